// The log of a node that encodes a task for a scripted control plane.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { createLogger, type LogLevel } from "#shared/log.ts";
import type { UploadsRequest } from "#shared/protocol/uploads.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../test/fixtures.ts";
import { readConfig } from "./config.ts";
import { startNode } from "./node.ts";
import { NodeIdentity } from "./node-identity.ts";
import { probeFile } from "./source/probe/probe.ts";
import { ffmpeg, tools } from "./testing/jobs/stream-encode.ts";
import { startTraceCollector, type TraceCollector } from "./testing/trace-collector.ts";
import { readTraceExport } from "./tracing/export-settings.ts";

const NODE_TOKEN = "n-nodetokensecret";
const LEASE_TOKEN = "leasetokensecret";
const SIGNATURE = "signaturesecret";
const PASSWORD = "passwordsecret";
const LEASE = "AAAAAAAAAAAAAA.encode.1";
const [TRACE, CALLER] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const COLLECTOR_KEY = "collectorkeysecret";

const folder = fileFolder();
beforeAll(async () => {
  const options = "-f lavfi -i testsrc2=s=160x90:r=25:d=1 -c:v libx264 -preset ultrafast clip.mp4";
  expect(await ffmpeg(folder, options)).toEqual({ ok: true });
});

/** A control plane with a source and a storage. `completed` resolves with the node's last report. */
async function startControlPlane() {
  const completed = Promise.withResolvers<string>();
  const clip = await readFile(join(folder, "clip.mp4"));
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const path = request.url ?? "";
    if (path.startsWith("/clip.mp4")) return response.end(clip);
    if (path.endsWith("/uploads")) {
      const { files }: UploadsRequest = JSON.parse(body.toString());
      const url = `${origin}/bucket/out.mp4?X-Amz-Signature=${SIGNATURE}`;
      const parts = (sizeBytes: number) => [{ url, headers: {}, offset: 0, sizeBytes }];
      const uploads = files.map(({ output, file, sizeBytes }) => ({ output, file, parts: parts(sizeBytes) }));
      return response.end(JSON.stringify({ uploads }));
    }
    response.end("{}");
    if (/\/(complete|fail)$/.test(path)) completed.resolve(body.toString());
  });
  const sockets = new WebSocketServer({ server });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const task = {
    kind: "encode",
    sourceUrl: `http://user:${PASSWORD}@127.0.0.1:${port}/clip.mp4?X-Amz-Signature=${SIGNATURE}`,
    probe: await probeFile(tools.ffprobe, join(folder, "clip.mp4")),
    outputs: [specOf({ format: "mp4:64x" }, 0), specOf({ format: "mp4:32x", params: { offset: 999 } }, 1)],
  };
  const assigned = { kind: "encode", slotClass: "encode", round: 0 };
  const trace = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: "a=1" };
  const assignment = { lease: LEASE, token: LEASE_TOKEN, jobId: "AAAAAAAAAAAAAA", ...assigned, task, trace };
  sockets.on("connection", (socket) => {
    socket.send(JSON.stringify({ type: "welcome", progressEveryMs: 500 }));
    socket.send(JSON.stringify({ type: "assign", assignment }));
    socket.on("message", (data) => {
      const { type, id } = JSON.parse(String(data));
      // The node then sends the report by POST.
      if (type === "report") socket.send(JSON.stringify({ type: "ack", id, isAccepted: null }));
    });
  });
  const close = async (): Promise<void> => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { origin, completed: completed.promise, close };
}

const NOTHING = { filters: [], muxers: [], hardware: null };
const capabilities = { ffmpegVersion: "7", encoders: ["libx264" as const], cpus: 1, ...NOTHING };

/** Returns the log lines of a node at this level. The node exports spans to the endpoint. */
async function logOf(level: LogLevel, endpoint: string): Promise<string[]> {
  const lines: string[] = [];
  const controlPlane = await startControlPlane();
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: `api-key=${COLLECTOR_KEY}` };
  const node = await startNode({
    config: {
      ...readConfig(["--url", controlPlane.origin, "--token", NODE_TOKEN, "--hw", "off"], {}),
      workFolder: join(folder, `work-${level}`),
      allowPrivate: "loopback",
      slots: { inspect: 1, encode: 1 },
      isolation: "best-effort",
      logLevel: level,
      drainMs: 0,
      tracing: readTraceExport(collector),
    },
    identity: new NodeIdentity(folder, "n", false),
    probe: async () => ({ tools, capabilities }),
    log: createLogger({ write: (line) => lines.push(line), now: Date.now, level }),
  });
  expect(JSON.parse(await controlPlane.completed)).toMatchObject({ result: { outputs: [{ status: "made" }] } });
  await node.drain();
  await controlPlane.close();
  return lines;
}

const DEBUG_MESSAGES = [
  ...["frame received", "frame sent", "lease started", "encode planned", "ffmpeg command", "ffmpeg exited"],
  ...["uploads signed", "upload part stored", "report sent"],
];

it("the log at debug has lines about frames, leases, plans, runs, uploads and reports, and no secrets", async () => {
  const lines = await logOf("debug", "http://127.0.0.1:9");
  const messages = lines.map((line): string => JSON.parse(line).message);
  expect(messages).toEqual(expect.arrayContaining(DEBUG_MESSAGES));
  const text = lines.join("\n");
  expect(text).toMatch(/"message":"ffmpeg command".*"argv":"[^"]*-i /);
  expect(text).toMatch(/"message":"upload part stored".*"url":"http:\/\/127\.0\.0\.1:\d+\/bucket\/out\.mp4\?…"/);
  // The trace collector is unreachable: the task completes, and a single line reports the loss.
  expect(messages).toContain("task completed");
  expect(messages.filter((message) => message.startsWith("spans "))).toHaveLength(1);
  for (const secret of [NODE_TOKEN, LEASE_TOKEN, SIGNATURE, PASSWORD, COLLECTOR_KEY])
    expect(text).not.toContain(secret);
});

it("the log at info has no debug lines, and its lines about a task have the job and the trace", async () => {
  const collector = await startTraceCollector();
  onTestFinished(() => collector.close());
  const lines = await logOf("info", collector.endpoint);
  expectSpans(collector);
  for (const line of lines.filter((line) => /"(task completed|ffmpeg started)"/.test(line))) {
    expect(JSON.parse(line)).toMatchObject({ lease: LEASE, job: "AAAAAAAAAAAAAA", trace_id: TRACE });
  }
  const messages = lines.map((line): string => JSON.parse(line).message);
  expect(messages).toEqual(expect.arrayContaining(["ffmpeg started", "output failed", "task completed"]));
  expect(lines.filter((line) => line.includes("output failed")).map((line): unknown => JSON.parse(line))).toMatchObject(
    [{ level: "warn", output: 1, code: expect.any(String), error: expect.any(String), job: "AAAAAAAAAAAAAA" }],
  );
  expect(messages.filter((message) => DEBUG_MESSAGES.includes(message))).toEqual([]);
});

/** Expects the task's span as a child of the caller's span, with its steps as children in their order. */
function expectSpans({ spans, headers }: TraceCollector): void {
  const task = spans.find(({ name }) => name === "task encode");
  expect(task).toMatchObject({
    traceId: TRACE,
    parentSpanId: CALLER,
    traceState: "a=1",
    flags: 0x301,
    kind: 5,
    status: {},
    attributes: { "copra.job": "AAAAAAAAAAAAAA", "copra.lease": LEASE, "copra.attempt": "1", "copra.outcome": "done" },
    resource: { "service.name": "copra-node", "service.instance.id": "n" },
  });
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === task?.spanId);
  const byStart = steps.toSorted((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1));
  expect(byStart.map(({ name }) => name)).toEqual(["fetch", "probe", "ffmpeg", "upload", "report"]);
  expect(spans).toHaveLength(6);
  for (const { traceId, startTimeUnixNano, endTimeUnixNano } of steps) {
    expect(traceId).toBe(TRACE);
    expect(startTimeUnixNano >= (task?.startTimeUnixNano ?? "")).toBe(true);
    expect(startTimeUnixNano <= endTimeUnixNano && endTimeUnixNano <= (task?.endTimeUnixNano ?? "")).toBe(true);
  }
  for (const sent of headers) expect(sent).toMatchObject({ "api-key": COLLECTOR_KEY });
}
