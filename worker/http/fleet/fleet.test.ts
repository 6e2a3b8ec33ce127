// The operator's side of the fleet, with nodes on real sockets.

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { Autoscale, NodeDetails, NodeHistory, NodeList } from "#shared/api/node-responses.ts";
import { NAME_IN_USE } from "#shared/protocol/frames.ts";
import { GoneNodes } from "../../dispatch/operator/gone-nodes.ts";
import { hubOf } from "../../rpc/hub.ts";
import { jobOf } from "../../rpc/job.ts";
import { faultyDatabase } from "../../testing/faulty-database.ts";
import { ADMIN, basic, bearer, jobBody, newAccount, newNodeToken, operator, PROBE, send } from "../../testing/jobs.ts";
import { connect, hello, joined, newJob, settle, useNodes } from "../../testing/nodes.ts";
import { app } from "../app.ts";

useNodes();

const ONE = { inspect: 1, encode: 1 };
const admin = (method: string, path: string) => operator.request(method, `/v2/admin${path}`);
const stateOf = async (id: string) => (await admin("GET", `/nodes/${id}`)).body.state;

/** Creates a token of another pool, as the operator does. */
async function tokenOf(pool: string, labels: string[]): Promise<string> {
  const body = { name: pool, pool, labels };
  return (await operator.post("/v2/admin/node-tokens", body)).body.node_token;
}

describe("GET /v2/admin/nodes", () => {
  it("lists the nodes of all pools, with their properties and their running work", async () => {
    const node = await connect(await tokenOf("gpu", ["region:eu"]));
    const facts = {
      host: "m1",
      version: "0.1.0",
      labels: ["ssd", "region:us"],
      spot: true,
      disk: { free: 5, total: 9 },
    };
    node.say({ ...hello("far", ONE), ...facts });
    await node.next("welcome");
    const near = await joined("near", ONE);
    const job = await newJob();
    await near.next("assign");
    const { status, body } = await admin("GET", "/nodes");
    expect(status).toBe(200);
    expect(body.nodes.map(({ id }: { id: string }) => id)).toEqual(["near", "far"]);
    expect(body.nodes[0]).toMatchObject({
      state: "ready",
      pool: "default",
      labels: [],
      leases: 1,
      hub: "hub:default",
      slots: { inspect: { free: 0, running: 1 }, encode: { free: 1, running: 0 } },
    });
    expect(body.nodes[1]).toMatchObject({
      pool: "gpu",
      labels: ["region:eu", "ssd"],
      region: "eu",
      spot: true,
      host: "m1",
      version: "0.1.0",
      ffmpeg: "7.0",
      cpus: 2,
      disk: { free_bytes: 5, total_bytes: 9 },
      hub: "hub:gpu",
      score: 0,
    });
    expect(NodeList.parse(body)).toEqual(body);
    const details = (await admin("GET", "/nodes/near")).body;
    expect(NodeDetails.parse(details)).toEqual(details);
    expect(details).toMatchObject({
      running: [{ lease: `${job.id}.inspect.1`, class: "inspect" }],
      capabilities: { ffmpegVersion: "7.0", cpus: 2 },
    });
  });
});

it("keeps the work of a node in steps of 15 minutes, also after the node has left", async () => {
  const node = await joined("a", ONE);
  const job = await newJob();
  const { lease, token } = (await node.next("assign")).assignment;
  await jobOf(env, job.id).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
  node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [lease] });
  const encode = (await node.next("assign")).assignment;
  const item = { lease: encode.lease, token: encode.token, stage: "encoding", fraction: 0.5, speed: 4 };
  node.say({ type: "progress", items: [item] });
  // The response rounds the averages of the first seconds to 0.
  const worked = async (of: "busy" | "speed") => (await hubOf(env).history("a"))?.steps.some((step) => step[of] > 0);
  await vi.waitFor(async () => expect(await worked("speed")).toBe(true));
  node.socket.close();
  await vi.waitFor(async () => expect(await stateOf("a")).toBe("gone"));
  expect(await worked("busy")).toBe(true);
  const { body } = await admin("GET", "/nodes/a/history");
  expect(NodeHistory.parse(body)).toEqual(body);
  expect([body.id, body.step_seconds, body.steps.length]).toEqual(["a", 900, 96]);
  expect((await admin("GET", "/nodes/nobody/history")).status).toBe(404);
});

it("lists why a node is not ready, until the node states that it reaches the service's storages", async () => {
  const node = await connect(await tokenOf("default", []));
  const reason = "Cannot reach http://10.0.0.5:9000 (connection refused)";
  node.say({ ...hello("attic", { inspect: 0, encode: 0 }), notReady: [reason] });
  const { service } = await node.next("welcome");
  expect(service).toContainEqual({ origin: "https://copra.test", use: "control plane" });
  const job = await newJob();
  await settle();
  expect((await admin("GET", "/nodes/attic")).body).toMatchObject({ state: "not_ready", not_ready: [reason] });
  expect(node.frames).toEqual([]);
  node.say({ type: "slots", offered: ONE, released: [], notReady: [] });
  expect((await node.next("assign")).assignment.jobId).toBe(job.id);
  expect((await admin("GET", "/nodes/attic")).body).toMatchObject({ state: "ready", not_ready: [] });
});

it("lists the fonts of connected nodes to clients", async () => {
  const node = await connect(await tokenOf("default", []));
  const plain = hello("attic", ONE);
  node.say({ ...plain, capabilities: { ...plain.capabilities, fonts: ["Noto Sans", "Fraktur"] } });
  await node.next("welcome");
  const { status, body } = await send("/v2/fonts", { headers: basic((await newAccount()).key) });
  expect([status, body]).toEqual([200, { fonts: ["Fraktur", "Noto Sans"] }]);
});

it("rejects a new name that another node has, but never the name that a node used before", async () => {
  const token = await tokenOf("default", []);
  const first = await connect(token);
  first.say({ ...hello("attic", ONE), session: "one", isNewName: true });
  await first.next("welcome");
  const second = await connect(token);
  second.say({ ...hello("attic", ONE), session: "two", isNewName: true });
  expect([await second.closed, await second.reason]).toEqual([1008, NAME_IN_USE]);
  const restarted = await connect(token);
  restarted.say({ ...hello("attic", ONE), session: "three" });
  await restarted.next("welcome");
  const stranger = await connect(await tokenOf("default", []));
  stranger.say({ ...hello("attic", ONE), session: "four", isNewName: true });
  expect(await stranger.reason).toBe(NAME_IN_USE);
});

it("disconnects the nodes of a revoked token at each hub of its pool", async () => {
  const token = await tokenOf("gpu", []);
  const nodes = [await connect(token), await connect(token)];
  for (const [at, node] of nodes.entries()) node.say(hello(`gpu-${at}`, ONE));
  for (const node of nodes) await node.next("welcome");
  const { body } = await admin("GET", "/node-tokens");
  const { id } = body.node_tokens.find(({ pool }: { pool: string }) => pool === "gpu");
  expect((await admin("DELETE", `/node-tokens/${id}`)).status).toBe(200);
  for (const node of nodes) expect(await node.closed).toBe(1008);
});

describe("cordoned nodes", () => {
  it("gives a cordoned node no work, also after the node and the hub return, until it is uncordoned", async () => {
    const node = await joined("attic", ONE);
    expect(await admin("POST", "/nodes/attic/cordon")).toMatchObject({ status: 200, body: { state: "cordoned" } });
    expect(await hubOf(env).capacity()).toBe(0);
    await newJob();
    await settle();
    expect(node.frames).toEqual([]);
    await evictDurableObject(hubOf(env), { webSockets: "close" });
    await node.closed;
    expect(await stateOf("attic")).toBe("offline");
    const back = await joined("attic", ONE);
    await settle();
    expect(back.frames).toEqual([]);
    expect(await stateOf("attic")).toBe("cordoned");
    expect((await admin("POST", "/nodes/attic/uncordon")).body.state).toBe("ready");
    expect((await back.next("assign")).assignment.task.kind).toBe("inspect");
  });

  it("keeps the running work of a cordoned node, and uses its slots again after the cordon", async () => {
    const node = await joined("attic", { inspect: 2, encode: 0 });
    await newJob();
    const { assignment } = await node.next("assign");
    await admin("POST", "/nodes/attic/cordon");
    node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [assignment.lease] });
    const jobs = [await newJob(), await newJob()];
    await settle();
    expect(node.frames).toEqual([]);
    await admin("POST", "/nodes/attic/uncordon");
    const jobIds = [await node.next("assign"), await node.next("assign")].map((frame) => frame.assignment.jobId);
    expect(jobIds.sort()).toEqual(jobs.map(({ id }) => id).sort());
  });
});

describe("drained nodes", () => {
  it("sends a drain frame again when the node reconnects, and cordons a new process of the node", async () => {
    const node = await joined("attic", ONE, "s1");
    expect((await admin("POST", "/nodes/attic/drain")).body.state).toBe("draining");
    await node.next("drain");
    const again = await joined("attic", ONE, "s1");
    await again.next("drain");
    again.say({ type: "bye" });
    const fresh = await joined("attic", ONE, "s2");
    await newJob();
    await settle();
    expect(fresh.frames).toEqual([]);
    expect(await stateOf("attic")).toBe("cordoned");
    await admin("POST", "/nodes/attic/uncordon");
    await fresh.next("assign");
  });
});

it.each([
  "GET /nodes/nobody",
  "POST /nodes/nobody/drain",
  "POST /nodes/nobody/cordon",
  "POST /nodes/%20/uncordon",
  "DELETE /nodes/nobody",
])("%s is rejected: there is no such node", async (route) => {
  const [method = "", path = ""] = route.split(" ");
  const message = expect.stringMatching(/^No node of this name is /);
  expect(await admin(method, path)).toMatchObject({ status: 404, body: { error_code: "node_not_found", message } });
});

it("drains no cordoned node that is not connected", async () => {
  const node = await joined("attic", ONE);
  await admin("POST", "/nodes/attic/cordon");
  node.socket.close();
  await vi.waitFor(async () => expect(await stateOf("attic")).toBe("offline"));
  expect((await admin("POST", "/nodes/attic/drain")).status).toBe(404);
  expect((await admin("POST", "/nodes/attic/uncordon")).body.state).toBe("gone");
});

describe("gone nodes", () => {
  const leave = async (node: { readonly socket: WebSocket }, id = "attic"): Promise<void> => {
    node.socket.close();
    await vi.waitFor(async () => expect(await stateOf(id)).toBe("gone"));
  };

  it("lists a gone node with its last properties until it returns, also when the hub restarts", async () => {
    const node = await joined("attic", ONE);
    await newJob();
    const { lease } = (await node.next("assign")).assignment;
    await leave(node);
    await evictDurableObject(hubOf(env));
    const { body } = await admin("GET", "/nodes");
    expect(NodeList.parse(body)).toEqual(body);
    expect(body.nodes).toMatchObject([
      { id: "attic", state: "gone", pool: "default", leases: 0, lost_leases: [lease] },
    ]);
    expect(body.nodes[0].last_seen_at).toMatch(/^\d{4}-/);
    await joined("attic", ONE);
    expect((await admin("GET", "/nodes")).body.nodes).toMatchObject([{ last_seen_at: null, lost_leases: [] }]);
  });

  it("forgets a gone node and its cordon, but not while it is connected", async () => {
    const node = await joined("attic", ONE);
    expect((await admin("DELETE", "/nodes/attic")).status).toBe(404);
    await admin("POST", "/nodes/attic/cordon");
    node.socket.close();
    await vi.waitFor(async () => expect(await stateOf("attic")).toBe("offline"));
    expect((await admin("DELETE", "/nodes/attic")).body).toMatchObject({ id: "attic", state: "offline" });
    expect((await admin("GET", "/nodes")).body.nodes).toEqual([]);
    expect((await admin("DELETE", "/nodes/attic")).status).toBe(404);
    await joined("attic", ONE);
    expect(await stateOf("attic")).toBe("ready");
  });

  it("forgets a gone node after a week, or after a hundred other nodes have gone", async () => {
    await leave(await joined("attic", ONE));
    await runInDurableObject(hubOf(env), (_, { storage }) => {
      const gone = new GoneNodes(storage.kv);
      const [[, node] = []] = gone.list(Date.now());
      if (!node) throw new Error("No node is gone");
      const week = 7 * 24 * 60 * 60_000;
      expect(gone.list(node.goneAt + week - 1)).toHaveLength(1);
      expect([gone.get("attic", node.goneAt + week), gone.list(node.goneAt + week)]).toEqual([null, []]);
      const about = { host: null, version: null, spot: false };
      const other = { profile: { pool: "default", labels: [] }, about, leases: {}, draining: false };
      const add = (id: number, given: object = {}): void =>
        gone.add({ nodeId: `n${id}`, ...other, ...given } as never, 1000 + id);
      for (let id = 0; id <= 100; id++) add(id);
      expect([gone.list(2000).length, gone.get("n0", 2000), gone.get("n1", 2000)?.goneAt]).toEqual([100, null, 1001]);
      // The machine announced its end, and was taken away.
      add(200, { draining: true, about: { ...about, spot: true } });
      expect(gone.get("n200", 2000)).toBeNull();
    });
  });
});

describe("GET /v2/autoscale and GET /metrics", () => {
  const METRICS = "a-metrics-token-of-32-characters";
  const withToken = { ...env, METRICS_TOKEN: METRICS };

  it("counts running and waiting work, also for each pool that a token binds", async () => {
    await tokenOf("gpu", []);
    const node = await joined("attic", ONE);
    for (let count = 0; count < 3; count++) await newJob();
    const { lease } = (await node.next("assign")).assignment;
    const { body } = await operator.get("/v2/autoscale");
    expect(Autoscale.parse(body)).toEqual(body);
    expect(body.inspect).toMatchObject({ wanted: 3, running: 1, waiting: 2, free: 0 });
    expect(body.encode).toMatchObject({ wanted: 3, running: 1, waiting: 2 });
    expect(body.pools).toMatchObject({ default: { encode: { free: 0 } }, gpu: { inspect: { wanted: 0 } } });
    node.say({ type: "slots", offered: { inspect: 0, encode: 0 }, released: [lease], outcome: "done" });
    await settle();
    const response = await app.request("/metrics", { headers: bearer(ADMIN) }, env);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = (await response.text()).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        'copra_nodes{pool="default",state="ready",hardware="none"} 1',
        'copra_tasks_waiting{pool="default",class="inspect"} 2',
        'copra_slots{pool="default",class="encode",state="free"} 1',
        'copra_tasks_total{kind="inspect",outcome="done"} 1',
        'copra_task_duration_seconds_count{kind="inspect"} 1',
        "copra_hubs_unavailable 0",
      ]),
    );
  });

  it("shows work that waits for a pool without a token, while it waits", async () => {
    const { key } = await newAccount();
    const body = jobBody({ settings: { queue: "gpus" } });
    const job = await send("/v2/jobs", { method: "POST", body, headers: basic(key) });
    await vi.waitFor(async () => {
      const { pools } = (await operator.get("/v2/autoscale")).body;
      expect(pools.gpus).toMatchObject({ inspect: { wanted: 1, waiting: 1, free: 0 } });
    });
    const metrics = await (await app.request("/metrics", { headers: bearer(ADMIN) }, env)).text();
    expect(metrics).toContain('copra_tasks_waiting{pool="gpus",class="inspect"} 1');
    await send(`/v2/jobs/${job.body.id}`, { method: "DELETE", headers: basic(key) });
    await env.DB.prepare("UPDATE waiting_pools SET until = 1").run();
    expect(Object.keys((await operator.get("/v2/autoscale")).body.pools)).not.toContain("gpus");
  });

  it("accepts METRICS_TOKEN, which gives no other access", async () => {
    for (const path of ["/v2/autoscale", "/metrics"]) {
      expect((await app.request(path, { headers: bearer(METRICS) }, withToken)).status).toBe(200);
      expect((await app.request(path, { headers: bearer(METRICS) }, env)).status).toBe(401);
    }
    expect((await app.request("/v2/admin/nodes", { headers: bearer(METRICS) }, withToken)).status).toBe(401);
  });

  it("rejects clients, nodes, and requests without a credential", async () => {
    const { key } = await newAccount();
    for (const path of ["/v2/autoscale", "/metrics"]) {
      for (const headers of [{}, basic(key), bearer(key), bearer(await newNodeToken()), bearer("wrong")]) {
        const refused = await send(path, { headers: headers as Record<string, string> });
        expect([refused.status, refused.body.error_code]).toEqual([401, "authentication_failed"]);
      }
      expect((await operator.post(path)).status).toBe(405);
    }
  });

  it("continues to report while D1 does not answer", async () => {
    await tokenOf("gpu", []);
    const ask = async (DB: D1Database) =>
      (await app.request("/v2/autoscale", { headers: bearer(ADMIN) }, { ...env, DB })).json<{ pools: object }>();
    const before = await ask(env.DB);
    expect(Object.keys(before.pools)).toEqual(["default", "gpu"]);
    expect(await ask(faultyDatabase(env.DB, () => "rejects"))).toEqual(before);
  });

  it("never makes a scaler remove machines because a hub does not answer", async () => {
    const broken = { getByName: () => ({ demand: () => Promise.reject(new Error("moved")) }) };
    const without = { ...env, HUB: broken } as unknown as typeof env;
    expect((await app.request("/v2/autoscale", { headers: bearer(ADMIN) }, without)).status).toBe(500);
    const metrics = await app.request("/metrics", { headers: bearer(ADMIN) }, without);
    expect(await metrics.text()).toContain("copra_hubs_unavailable 1");
  });
});
