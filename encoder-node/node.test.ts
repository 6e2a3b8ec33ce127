// How a node introduces itself to a scripted hub, and how it ends.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocketServer } from "ws";
import type { LeaseId } from "#shared/ids.ts";
import {
  decodeNodeFrame,
  type HubFrame,
  NAME_IN_USE,
  type NodeFrame,
  type ServiceOrigin,
} from "#shared/protocol/frames.ts";
import { fileFolder, startServer, untilEnd } from "../test/fixtures.ts";
import { type NodeConfig, readConfig } from "./config.ts";
import { writeLeaseFile } from "./link/lease-files.ts";
import { type EncoderNode, startNode } from "./node.ts";
import { identify, NodeIdentity } from "./node-identity.ts";
import { silentLog } from "./testing/silent-log.ts";

/** Never responds, so that a task runs until it is stopped. */
const silent = untilEnd(await startServer());
const folder = fileFolder();

const tool = { path: "/nonexistent", version: "7", origin: "env" } as const;
const capabilities = { ffmpegVersion: "7", encoders: [], cpus: 1, filters: [], muxers: [], hardware: null };

type ScriptedHub = { readonly node: EncoderNode; readonly frames: NodeFrame[]; send(frame: HubFrame): void };

type Script = {
  readonly isNew?: boolean;
  /** Receives the node's answered reports, and its connections. */
  readonly events?: string[];
  /** Frames that the hub sends after the welcome. */
  readonly first?: readonly HubFrame[];
  /** The origins that the hub states. */
  readonly service?: ServiceOrigin[];
  /** Connections that the hub rejects because of the node's name. */
  rejects?: number;
};

/** A node that is connected to a hub. */
async function connect(
  config: Partial<NodeConfig>,
  { events = [], first = [], service = [], isNew = false, rejects = 0 }: Script = {},
): Promise<ScriptedHub> {
  const http = createServer(async (request, response) => {
    request.resume();
    // Leaves time for a node that does not wait for the answer.
    await sleep(300);
    events.push(`answered ${request.url}`);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  http.on("upgrade", () => events.push("connected")).listen(0, "127.0.0.1");
  await once(http, "listening");
  const server = new WebSocketServer({ server: http });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    http.close();
  });
  const frames: NodeFrame[] = [];
  let rejected = 0;
  const send = (frame: HubFrame): void => {
    for (const client of server.clients) client.send(JSON.stringify(frame));
  };
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const decoded = decodeNodeFrame(data.toString());
      if (decoded.ok) frames.push(decoded.value);
      if (rejected < rejects && decoded.ok && decoded.value.type === "hello") {
        rejected += 1;
        socket.close(1008, NAME_IN_USE);
      }
    });
    if (rejected < rejects) return;
    send({ type: "welcome", progressEveryMs: 500, service });
    for (const frame of first) send(frame);
  });
  const { port } = http.address() as AddressInfo;
  const node = await startNode({
    config: {
      ...readConfig(["--url", `http://127.0.0.1:${port}`, "--token", "n-1", "--hw", "off"], {}),
      workFolder: folder,
      allowPrivate: "loopback",
      slots: { inspect: 1, encode: 1 },
      isolation: "best-effort",
      drainMs: 0,
      ...config,
    },
    identity: new NodeIdentity(folder, "n", isNew),
    probe: async () => ({ tools: { ffmpeg: tool, ffprobe: tool }, capabilities }),
    log: silentLog,
  });
  onTestFinished(() => node.drain());
  await vi.waitFor(() => expect(frames[0]?.type).toBe("hello"));
  return { node, frames, send };
}

it("a node states its machine, version, place and disk", async () => {
  const { frames } = await connect({ pool: "gpu", labels: ["region:eu"], spot: true });
  expect(frames[0]).toMatchObject({
    host: hostname(),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    pool: "gpu",
    labels: ["region:eu"],
    spot: true,
    disk: { free: expect.any(Number), total: expect.any(Number) },
  });
});

it("offers its slots once it reaches the service's own origins, and until then states which origins it cannot reach", async () => {
  const bucket = createServer((_, response) => response.writeHead(403).end());
  await once(bucket.listen(0, "127.0.0.1"), "listening");
  const { port } = bucket.address() as AddressInfo;
  bucket.close();
  const service: ServiceOrigin[] = [{ origin: `http://127.0.0.1:${port}`, use: "scratch" }];
  const { node, frames } = await connect({}, { service });
  const none = { inspect: 0, encode: 0 };
  expect(frames[0]).toMatchObject({ slots: none, notReady: [expect.stringContaining("not yet tested")] });
  const reason = expect.stringMatching(/^Cannot reach .*connection refused/);
  await vi.waitFor(() => expect(frames.at(-1)).toMatchObject({ type: "slots", offered: none, notReady: [reason] }));
  expect(node.notReady()).toEqual([reason]);
  onTestFinished(() => void bucket.close());
  await once(bucket.listen(port, "127.0.0.1"), "listening");
  const ready = { type: "slots", offered: { inspect: 1, encode: 1 }, notReady: [] };
  await vi.waitFor(() => expect(frames.at(-1)).toMatchObject(ready));
  expect(node.notReady()).toEqual([]);
});

it.each([
  ["offers its slots within", -60, { inspect: 1, encode: 1 }, 0],
  ["offers none, and states why, outside of", 60, { inspect: 0, encode: 0 }, 1],
])("a node %s its hours", async (_, beginsInMinutes, offered, reasons) => {
  const now = new Date().getHours() * 60 + new Date().getMinutes();
  const clock = (minutes: number): number => (now + minutes + 24 * 60) % (24 * 60);
  const hours = { from: clock(beginsInMinutes), to: clock(beginsInMinutes + 180) };
  const { node, frames } = await connect({ hours });
  const notReady = Array(reasons).fill(expect.stringContaining("works from"));
  await vi.waitFor(() => expect(frames.at(-1)).toMatchObject({ type: "slots", offered, notReady }));
  // The node is healthy: its supervisor should not replace it.
  expect(node.notReady()).toEqual([]);
});

it("a node is named after its machine, takes a suffix if another node has that name, and keeps it", async () => {
  const chosen = await identify({ workFolder: folder, name: null });
  expect(chosen.hello).toMatchObject({ nodeId: hostname().slice(0, 48), isNewName: true });
  expect((await identify({ workFolder: folder, name: "attic" })).hello).not.toHaveProperty("isNewName");
  const { frames } = await connect({}, { isNew: true, rejects: 1 });
  await vi.waitFor(() => expect(frames.at(-1)?.type).toBe("slots"));
  const names = frames.flatMap((frame) => (frame.type === "hello" ? [frame.nodeId] : []));
  expect(names).toEqual(["n", expect.stringMatching(/-[0-9a-f]{4}$/)]);
  await vi.waitFor(async () => {
    const identity = await identify({ workFolder: folder, name: null });
    expect(identity.hello).toEqual({ nodeId: names[1], session: identity.session });
  });
});

it("a node ends when the hub drains it", async () => {
  const { node, frames, send } = await connect({});
  send({ type: "drain" });
  await node.stopped;
  await vi.waitFor(() => expect(frames.at(-1)).toEqual({ type: "bye" }));
});

it("a node states how long its machine still exists", async () => {
  const { node, frames } = await connect({ spot: true });
  await node.drain(25_000);
  await vi.waitFor(() => expect(frames.at(-1)).toEqual({ type: "bye", withinMs: 25_000 }));
});

it("a node ends after it has been idle for the given time, and not while it works", async () => {
  const lease = "AAAAAAAAAAAAAA.inspect.1" as never;
  const sourceUrl = `${silent.origin}/`;
  const task = { kind: "inspect", sourceUrl, chunking: null } as const;
  const assigned = { kind: "inspect", slotClass: "inspect", round: 0, jobId: "AAAAAAAAAAAAAA" as never } as const;
  const assign: HubFrame = { type: "assign", assignment: { lease, token: "t", ...assigned, task } };
  const { node, frames, send } = await connect({ exitWhenIdleMs: 300 }, { first: [assign] });
  const stopped = vi.fn();
  void node.stopped.then(stopped);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(stopped).not.toHaveBeenCalled();
  send({ type: "cancel", lease });
  await vi.waitFor(() => expect(stopped).toHaveBeenCalled());
  expect(frames.at(-1)).toEqual({ type: "bye" });
  expect(frames.at(-2)).toMatchObject({ type: "slots", released: [lease], disk: { free: expect.any(Number) } });
});

it("delivers the reports of the earlier process before the node connects: a new session ends the old leases", async () => {
  const workFolder = join(folder, "restarted");
  const lease = "AAAAAAAAAAAAAA.encode.1" as LeaseId;
  const failed = { status: "failed", output: 0, failure: { code: "node_failed", message: "Failed" } };
  const body = { token: "t", result: { kind: "encode", outputs: [failed] } };
  await writeLeaseFile(join(workFolder, "spool"), lease, { lease, verb: "complete", body });
  await writeLeaseFile(join(workFolder, "leases"), lease, { lease, token: "t" });
  const events: string[] = [];
  await connect({ workFolder }, { events });
  expect(events).toEqual([`answered /v2/nodes/leases/${lease}/complete`, "connected"]);
});
