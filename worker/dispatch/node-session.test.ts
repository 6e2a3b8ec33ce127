// A node with a session connects without a database query. Every node must send hello.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { SESSION_HEADER, SESSION_MS } from "#shared/protocol/frames.ts";
import { MAX_LEASES } from "#shared/report-limits.ts";
import { readSession, signSession } from "../crypto/node-session.ts";
import { app } from "../http/app.ts";
import { hubOf } from "../rpc/hub.ts";
import { settingsOf } from "../settings.ts";
import { bearer, newNodeToken, operator } from "../testing/jobs.ts";
import { connect, hello, useNodes } from "../testing/nodes.ts";
import { RevokedTokens } from "./admission/admission.ts";
import { reconnectSpreadMs } from "./connections/sessions.ts";

useNodes();

const NONE = { inspect: 0, encode: 0 };
const KEYS = settingsOf(env).sealingKeys;
const SESSION = { token: "t", pool: "gpu", labels: ["region:eu"], nodeId: "ä", digest: "d", expiresAt: 1000 };

/** A database that counts its queries. */
function counted(): { queries: () => number; bindings: typeof env } {
  const DB = { prepare: vi.fn((sql: string) => env.DB.prepare(sql)), batch: vi.fn(env.DB.batch.bind(env.DB)) };
  return {
    queries: () => DB.prepare.mock.calls.length + DB.batch.mock.calls.length,
    bindings: { ...env, DB: DB as unknown as D1Database },
  };
}

/** The socket of a node that sends these headers. */
async function open(headers: Record<string, string>, bindings: typeof env = env) {
  const request = new Request("https://copra.test/v2/nodes/connect", { headers: { ...headers, upgrade: "websocket" } });
  const response = await app.fetch(request, bindings);
  const socket = response.webSocket;
  const closed = new Promise<CloseEvent>((resolve) => socket?.addEventListener("close", resolve));
  socket?.accept();
  return { status: response.status, socket, closed };
}

describe("node sessions", () => {
  it("accepts an unchanged signed session until it expires, under any of the keys", () => {
    const [newest, older] = KEYS;
    if (!newest || !older) throw new Error("The tests have two sealing keys");
    const text = signSession(SESSION, [older]);
    expect(readSession(text, [newest, older], 999)).toEqual(SESSION);
    expect(readSession(text, [newest, older], 1000)).toBeNull();
    expect(readSession(text, [newest], 999)).toBeNull();
    const forged = btoa(JSON.stringify({ ...SESSION, pool: "default" }));
    expect(readSession(`${forged}.${text.split(".")[1]}`, [older], 999)).toBeNull();
    expect(["", ".", "a.b"].map((other) => readSession(other, KEYS, 999))).toEqual([null, null, null]);
  });

  it("connects a node again without a query, and only with its own token and name", async () => {
    const token = await newNodeToken();
    const first = await connect(token);
    first.say(hello("a", NONE));
    const { session = "", reconnectSpreadMs: spread } = await first.next("welcome");
    expect(spread).toBe(500);
    const { queries, bindings } = counted();
    const headers = { ...bearer(token), [SESSION_HEADER]: session };
    const again = await open(headers, bindings);
    expect([again.status, queries()]).toEqual([101, 0]);
    again.socket?.send(JSON.stringify(hello("a", NONE)));
    await vi.waitFor(async () => expect((await hubOf(env).stats()).nodes).toBe(1));
    const other = await open(headers, bindings);
    other.socket?.send(JSON.stringify(hello("b", NONE)));
    expect((await other.closed).reason).toMatch(/must have the name/);
    // A session is worthless without its token.
    expect((await open({ ...headers, ...bearer(`n-${"0".repeat(43)}`) }, bindings)).status).toBe(401);
    expect(queries()).toBe(1);
  });

  it("renews a session with any frame once half its time has passed, and not before", async () => {
    const node = await connect();
    node.say(hello("a", NONE));
    await node.next("welcome");
    const frame = { type: "slots", offered: NONE, released: [] };
    node.say(frame);
    const later = Date.now() + SESSION_MS / 2;
    const clock = vi.spyOn(Date, "now").mockReturnValue(later);
    node.say(frame);
    const { session } = await node.next("session");
    expect(readSession(session, KEYS, later)).toMatchObject({ nodeId: "a", expiresAt: later + SESSION_MS });
    clock.mockRestore();
    expect(node.frames.filter(({ type }) => type === "session")).toEqual([]);
  });

  it("rejects a session of a revoked token, also after the hub restarts", async () => {
    const { body } = await operator.post("/v2/admin/node-tokens", { name: "x" });
    const node = await connect(body.node_token);
    node.say(hello("a", NONE));
    const { session = "" } = await node.next("welcome");
    await operator.delete(`/v2/admin/node-tokens/${body.id}`);
    expect(await node.closed).toBe(1008);
    await evictDurableObject(hubOf(env), { webSockets: "close" });
    const back = await open({ ...bearer(body.node_token), [SESSION_HEADER]: session });
    expect(await back.closed).toMatchObject({ code: 1008, reason: "the token was revoked" });
  });

  it("remembers a revoked token while its sessions may be valid", async () => {
    await runInDurableObject(hubOf(env), (_, { storage: { kv } }) => {
      const revoked = new RevokedTokens(kv);
      revoked.add("first", 0);
      expect(new RevokedTokens(kv).has("first", SESSION_MS)).toBe(true);
      revoked.add("second", 2 * SESSION_MS);
      expect(revoked.has("first", 2 * SESSION_MS)).toBe(false);
      expect([...kv.list({ prefix: "revoked:" })].map(([key]) => key)).toEqual(["revoked:second"]);
    });
  });
});

describe("connections of nodes to a hub", () => {
  it("spreads the return of nodes: at most 250 a second, within 30 s", () => {
    expect([1, 100, 1000, 1500, 10_000].map(reconnectSpreadMs)).toEqual([500, 500, 4000, 6000, 28_000]);
  });

  it("closes sockets that send no hello", async () => {
    const token = await newNodeToken();
    const silent = await connect(token);
    const node = await connect(token);
    node.say(hello("a", NONE));
    await node.next("welcome");
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 15_000);
    await connect(token);
    clock.mockRestore();
    expect([await silent.closed, await silent.reason]).toEqual([1008, "no hello within 15 seconds"]);
    expect((await hubOf(env).stats()).nodes).toBe(1);
  });

  it("rejects a node that expects another pool", async () => {
    const node = await connect();
    node.say({ ...hello("a", NONE), pool: "gpu" });
    expect(await node.reason).toBe("this token is of the pool default: use a token of the other pool");
  });

  it("keeps its facts about a node with the most leases and labels through hibernation", async () => {
    const labels = Array.from({ length: 16 }, (_, at) => `${"k".repeat(28)}${10 + at}:${"v".repeat(32)}`);
    const node = await connect();
    const facts = { host: "h".repeat(253), version: "v".repeat(64), labels };
    node.say({ ...hello("n".repeat(64), NONE, "s".repeat(64)), ...facts });
    await node.next("welcome");
    const hub = hubOf(env);
    await runInDurableObject(hub, (_, ctx) => {
      const socket = ctx.getWebSockets().find((accepted) => accepted.deserializeAttachment()?.nodeId);
      const stored = socket?.deserializeAttachment();
      expect(stored.about.labels).toHaveLength(16);
      const ids = Array.from({ length: MAX_LEASES }, (_, at) => `${String(at).padStart(14, "0")}`);
      const leases = Object.fromEntries(ids.map((id) => [`${id}.chunk-1699-1699.99`, "encode"]));
      const accounts = Object.fromEntries(ids.map((id) => [id, `a_${"x".repeat(24)}`]));
      socket?.serializeAttachment({ ...stored, leases, accounts });
    });
    await evictDurableObject(hub, { webSockets: "hibernate" });
    expect((await hub.stats()).nodes).toBe(1);
  });
});
