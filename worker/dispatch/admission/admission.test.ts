// A single node, or a single token, cannot harm the others.
import { evictDurableObject, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { newJobId } from "#shared/ids.ts";
import { MAX_LEASES, MAX_SLOTS } from "#shared/report-limits.ts";
import { JobObject } from "../../job/job-object.ts";
import { ADMITTED_HEADER, hubOf } from "../../rpc/hub.ts";
import { jobOf } from "../../rpc/job.ts";
import { bearer, newNodeToken, operator, PROBE, send } from "../../testing/jobs.ts";
import { connect, hello, joined, newJob, settle, useNodes } from "../../testing/nodes.ts";
import { addSlots } from "../matching/nodes/connected-node.ts";
import { MAX_SOCKETS_PER_TOKEN } from "./admission.ts";
import { NodeNames } from "./node-names.ts";

useNodes();

const NONE = { inspect: 0, encode: 0 };
const ONE_INSPECT = { inspect: 1, encode: 0 };

const jobIds = async (): Promise<Set<string>> => new Set((await listDurableObjectIds(env.JOB)).map(String));

describe("node names", () => {
  it("rejects another token's claim to a node's name with a reason, also after the hub restarts", async () => {
    const [first, second] = [await newNodeToken(), await newNodeToken()];
    const node = await connect(first);
    node.say(hello("a", ONE_INSPECT));
    await node.next("welcome");
    const thief = await connect(second);
    thief.say(hello("a", ONE_INSPECT, "other"));
    expect(await thief.closed).toBe(1008);
    expect(await thief.reason).toMatch(/belongs to another token/);
    await evictDurableObject(hubOf(env), { webSockets: "close" });
    await node.closed;
    const again = await connect(second);
    again.say(hello("a", ONE_INSPECT, "other"));
    expect(await again.closed).toBe(1008);
    const back = await connect(first);
    back.say(hello("a", ONE_INSPECT));
    await back.next("welcome");
  });

  it("frees a node's name once its token was revoked", async () => {
    const first = await newNodeToken();
    const node = await connect(first);
    node.say(hello("a", NONE));
    await node.next("welcome");
    const { body } = await operator.get("/v2/admin/node-tokens");
    const ids = (body.node_tokens as { id: string }[]).map(({ id }) => id);
    for (const id of ids) await operator.delete(`/v2/admin/node-tokens/${id}`);
    await node.closed;
    const heir = await connect(await newNodeToken());
    heir.say(hello("a", NONE));
    await heir.next("welcome");
  });

  it("frees a name that was unused for a day, and limits the number of names of a token", () => {
    const rows = new Map<string, unknown>();
    const kv = {
      list: () => [...rows],
      put: (key: string, value: unknown) => rows.set(key, value),
      delete: (key: string) => rows.delete(key),
    } as unknown as SyncKvStorage;
    const names = new NodeNames(kv);
    expect(names.reserve({ nodeId: "a", token: "one", isConnected: false }, 0)).toBe(true);
    expect(names.reserve({ nodeId: "a", token: "two", isConnected: false }, 1000)).toBe(false);
    expect(new NodeNames(kv).reserve({ nodeId: "a", token: "two", isConnected: false }, 1000)).toBe(false);
    expect(names.reserve({ nodeId: "a", token: "two", isConnected: true }, 86_400_000)).toBe(false);
    expect(names.reserve({ nodeId: "a", token: "two", isConnected: false }, 86_400_000)).toBe(true);
    for (let number = 0; number < 2000; number++)
      names.reserve({ nodeId: `n${number}`, token: "one", isConnected: false }, number);
    expect(rows.size).toBe(1025);
  });
});

describe("node tokens", () => {
  it("limits the number of sockets of a token", async () => {
    const admitted = { token: "token", pool: "default", labels: [], nodeId: null, digest: "", service: [] };
    const headers = { upgrade: "websocket", [ADMITTED_HEADER]: JSON.stringify(admitted) };
    const open = async (): Promise<WebSocket> => {
      const { webSocket } = await hubOf(env).fetch("https://hub/", { headers });
      if (!webSocket) throw new Error("No socket");
      return webSocket;
    };
    const sockets = await Promise.all(Array.from({ length: MAX_SOCKETS_PER_TOKEN }, open));
    const last = await open();
    const closed = new Promise<CloseEvent>((resolve) => last.addEventListener("close", resolve));
    last.accept();
    expect((await closed).code).toBe(1013);
    for (const socket of sockets) {
      socket.accept();
      socket.close();
    }
  });
});

describe("reports of nodes", () => {
  it("gives a node no more slots than the maximum, however often it offers them", () => {
    const none = { free: NONE, leases: {} };
    expect(addSlots(none, { inspect: 60, encode: 60 })).toEqual({ inspect: 60, encode: 60 });
    expect(addSlots({ ...none, free: { inspect: 60, encode: 60 } }, { inspect: 9, encode: 9 })).toEqual({
      inspect: MAX_SLOTS,
      encode: MAX_SLOTS,
    });
    const held = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`lease ${at}`, "encode" as const]));
    expect(addSlots({ free: NONE, leases: held(MAX_LEASES - 3) }, { inspect: 2, encode: 2 })).toEqual({
      inspect: 1,
      encode: 2,
    });
    expect(addSlots({ free: NONE, leases: held(MAX_LEASES + 3) }, { inspect: 2, encode: 2 })).toEqual(NONE);
  });

  it("creates no object for reports about jobs that never existed", async () => {
    const before = await jobIds();
    const stranger = () => newJobId((count) => crypto.getRandomValues(new Uint8Array(count)));
    const proof = (token: string) => ({ lease: `${stranger()}.encode.1`, token, slotClass: "encode" });
    const running = ["t", "A".repeat(28), `${"A".repeat(28)}${"0".repeat(16)}`].map(proof);
    const node = await joined("a", NONE, "s", running);
    const items = running.map((lease) => ({ ...lease, stage: "encoding", fraction: 0.5 }));
    node.say({ type: "progress", items });
    const cancelled = [];
    for (const _ of [...running, ...items]) cancelled.push((await node.next("cancel")).lease);
    expect(new Set(cancelled)).toEqual(new Set(running.map(({ lease }) => lease)));
    node.socket.close();
    await settle();
    expect(await jobIds()).toEqual(before);
  });

  it("fails a task whose reports cause internal errors after some attempts, then disconnects its node", async () => {
    const node = await joined("a", ONE_INSPECT);
    const spec = await newJob();
    const { lease, token } = (await node.next("assign")).assignment;
    const body = { token, result: { kind: "inspect", probe: PROBE } };
    const complete = vi
      .spyOn(JobObject.prototype, "complete")
      .mockRejectedValue(new RangeError("Invalid array length"));
    const headers = bearer(await newNodeToken());
    const report = () => send(`/v2/nodes/leases/${lease}/complete`, { method: "POST", body, headers });
    for (let count = 0; count < 10; count++) expect((await report()).status).toBe(500);
    complete.mockRestore();
    expect(await node.closed).toBe(1013);
    const back = await connect();
    back.say(hello("a", NONE));
    expect(await back.closed).toBe(1013);
    expect(await jobOf(env, spec.id).view()).toMatchObject({ ok: true });
  });
});

describe("slots of accounts", () => {
  it("gives an account a slot although another account uses all others, also after nodes reconnect", async () => {
    const many = await Promise.all(Array.from({ length: 16 }, () => newJob({ accountId: "many" })));
    const node = await joined("a", { inspect: 16, encode: 0 });
    const assigned = [];
    for (let count = 0; count < 14; count++) assigned.push((await node.next("assign")).assignment);
    expect(new Set(assigned.map(({ jobId }) => jobId)).size).toBe(14);
    const one = await newJob({ accountId: "one" });
    expect((await node.next("assign")).assignment.jobId).toBe(one.id);
    await evictDurableObject(hubOf(env), { webSockets: "close" });
    await node.closed;
    const running = assigned.map(({ lease, token, slotClass }) => ({ lease, token, slotClass }));
    const back = await joined("a", { inspect: 0, encode: 0 }, "s-a", running);
    await vi.waitFor(async () => expect(await jobOf(env, many[0]?.id ?? "").view()).toMatchObject({ ok: true }));
    await settle();
    const other = await newJob({ accountId: "other" });
    back.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [] });
    expect((await back.next("assign")).assignment.jobId).toBe(other.id);
  });
});
