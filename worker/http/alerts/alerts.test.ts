// Alerts from their rules to real receivers, in virtual time: each sweep gets its time.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, inject, it, vi } from "vitest";
import { deleteAlert, endedJobs, findAlert } from "../../db/alerts.ts";
import { upsertJob } from "../../db/jobs/jobs.ts";
import { newWebhookSecret, signatureHeaders } from "../../notify/signature.ts";
import { hubOf } from "../../rpc/hub.ts";
import { ADMIN, bearer, newAccount, operator } from "../../testing/jobs.ts";
import { measuredDatabase, planOf } from "../../testing/measured-database.ts";
import { connect, hello, joined, newJob, type TestNode, useNodes } from "../../testing/nodes.ts";
import { app } from "../app.ts";
import { sweepAlerts } from "./sweep-alerts.ts";

useNodes();

const MINUTE = 60_000;
const { url: INBOX } = inject("inbox");
/** Each test has an inbox of its own. */
let names = 0;
const newName = (): string => `inbox-${++names}`;
type Received = { headers: Record<string, string>; body: string; status: number };
const attempts = async (name: string): Promise<Received[]> => (await fetch(`${INBOX}/${name}`)).json();
const received = async (name: string) => (await attempts(name)).filter(({ status }) => status < 300);
const respondWith = (name: string, code: number) => fetch(`${INBOX}/${name}`, { method: "PUT", body: String(code) });

const admin = (method: string, path: string, body?: unknown) =>
  operator.request(method, `/v2/admin/alerts${path}`, body);
const SECRET = newWebhookSecret(new Uint8Array(32));
const webhook = (name: string) => ({ type: "webhook", url: `${INBOX}/${name}`, secret: SECRET });

/** Stores a rule whose messages go to a webhook, and returns a function that lists the texts of the messages. */
async function ruled(rule: object, name = newName()): Promise<{ name: string; texts: () => Promise<string[]> }> {
  const { status, body } = await admin("PUT", `/${name}`, { ...rule, to: webhook(name) });
  expect([status, body.name], JSON.stringify(body)).toEqual([200, name]);
  return { name, texts: async () => (await received(name)).map((message) => JSON.parse(message.body).text) };
}

let jobs = 0;
async function endedJob(
  account: string,
  completedAt: number,
  { status = "job.failed", tags = {} } = {},
): Promise<void> {
  const id = `job${String(++jobs).padStart(11, "0")}`;
  const dates = { createdAt: completedAt - MINUTE, completedAt };
  const row = { id, accountId: account, status, version: 1, view: "{}", checkAt: null, search: null, usage: null };
  await upsertJob(env.DB, { ...row, ...dates, tags: JSON.stringify(tags) });
}

describe("an alert", () => {
  it("reports a lost node once, and once more when the node is back", async () => {
    const { texts } = await ruled({ when: "node.lost" });
    const node = await joined("attic", { inspect: 1, encode: 1 });
    node.socket.close();
    await vi.waitFor(async () => {
      const { body } = await operator.get("/v2/admin/nodes/attic");
      expect(body.state).toBe("gone");
    });
    const now = Date.now();
    await sweepAlerts(env, now);
    expect(await texts()).toEqual([]);
    await sweepAlerts(env, now + 2 * MINUTE);
    await sweepAlerts(env, now + 4 * MINUTE);
    expect(await texts()).toEqual([expect.stringMatching(/: firing\nNode default\/attic is lost since /)]);
    await joined("attic", { inspect: 1, encode: 1 });
    await sweepAlerts(env, now + 6 * MINUTE);
    await sweepAlerts(env, now + 8 * MINUTE);
    expect((await texts()).slice(1)).toEqual([expect.stringMatching(/: resolved\nResolved: Node default\/attic /)]);
  });

  it("reports no node as lost that was stopped, drained, cordoned or forgotten", async () => {
    const { texts } = await ruled({ when: "node.lost" });
    const ends: [string, (node: TestNode) => unknown][] = [
      ["stopped", (node) => node.say({ type: "bye" })],
      ["spot", (node) => node.say({ type: "bye", withinMs: 25_000 })],
      ["drained", (node) => node.next("drain").then(() => node.say({ type: "bye" }))],
      ["cordoned", () => undefined],
      ["forgotten", () => undefined],
      ["lost", () => undefined],
    ];
    for (const [name, end] of ends) {
      const node = await joined(name, { inspect: 1, encode: 1 });
      const path = `/v2/admin/nodes/${name}`;
      if (name === "drained") await operator.post(`${path}/drain`);
      if (name === "cordoned") await operator.post(`${path}/cordon`);
      await end(node);
      node.socket.close();
      const state = name === "drained" || name === "cordoned" ? "offline" : "gone";
      await vi.waitFor(async () => expect((await operator.get(path)).body.state).toBe(state));
      if (name === "forgotten") await operator.delete(path);
      // The operator lets it work again once it returns.
      if (name === "drained") await operator.post(`${path}/uncordon`);
    }
    await sweepAlerts(env, Date.now() + 2 * MINUTE);
    expect(await texts()).toEqual([expect.stringMatching(/: firing\nNode default\/lost is lost since \S+$/)]);
  });

  it("shares requests to hubs with the other alerts of a sweep, and makes only the needed requests", async () => {
    await ruled({ when: "job.failed" });
    await ruled({ when: "queue.age", seconds: 60, pool: "elsewhere" });
    const calls: string[] = [];
    const HUB = observed((call) => calls.push(call));
    await sweepAlerts({ ...env, HUB }, Date.now());
    expect(calls).toEqual([]);
    const gpu = { name: "gpu", pool: "gpu" };
    await operator.post("/v2/admin/node-tokens", gpu);
    for (const pool of [{}, {}, { pool: "default" }]) {
      for (const when of ["node.lost", "disk.low", "queue.age"]) {
        const details = when === "disk.low" ? { free_bytes: 1 } : when === "queue.age" ? { seconds: 60 } : {};
        await ruled({ when, ...details, ...pool });
      }
    }
    await sweepAlerts({ ...env, HUB }, Date.now());
    const expected = ["default demand", "default nodes", "gpu demand", "gpu nodes"];
    expect(calls.toSorted()).toEqual(expected.map((call) => `hub:${call}`));
  });

  it("reports a full disk until it has space again, and not while the node is away", async () => {
    const { name, texts } = await ruled({ when: "disk.low", free_bytes: 1e9, pool: "default" });
    const joinWith = async (free: number) => {
      const node = await connect();
      node.say({ ...hello("attic", { inspect: 1, encode: 1 }), disk: { free, total: 9e9 } });
      await node.next("welcome");
      return node;
    };
    const node = await joinWith(5e8);
    const now = Date.now();
    await sweepAlerts(env, now);
    expect(await texts()).toEqual([`Copra alert ${name}: firing\nNode default/attic: 0.5 GB free on its disk`]);
    expect((await admin("GET", `/${name}`)).body.firing).toEqual(["Node default/attic: 0.5 GB free on its disk"]);
    node.socket.close();
    await vi.waitFor(async () => {
      const { body } = await operator.get("/v2/admin/nodes/attic");
      expect(body.state).toBe("gone");
    });
    await sweepAlerts(env, now + 2 * MINUTE);
    expect(await texts()).toHaveLength(1);
    await joinWith(2e9);
    await sweepAlerts(env, now + 4 * MINUTE);
    expect((await texts()).slice(1)).toEqual([expect.stringContaining(": resolved\n")]);
  });

  it("reports a pool whose oldest task waits too long, until a node takes the task", async () => {
    const { name, texts } = await ruled({ when: "queue.age", seconds: 60 });
    const other = await ruled({ when: "queue.age", seconds: 60, pool: "gpu" });
    await newJob();
    await vi.waitFor(async () => {
      const { queues } = await hubOf(env).demand();
      expect(queues.some(({ waiting }) => waiting > 0)).toBe(true);
    });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * MINUTE });
    try {
      await sweepAlerts(env, Date.now());
      expect(await texts()).toEqual([`Copra alert ${name}: firing\nPool default: a task has waited 11 min`]);
      const node = await joined("attic", { inspect: 1, encode: 1 });
      await node.next("assign");
      await sweepAlerts(env, Date.now() + 2 * MINUTE);
      expect((await texts()).slice(1)).toEqual([expect.stringContaining(": resolved\n")]);
      expect(await other.texts()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("reports the share of failed jobs within an hour, with its minimum number of jobs", async () => {
    const { id } = await newAccount();
    const { name, texts } = await ruled({ when: "failures", percent: 50, min_jobs: 4 });
    const now = Date.now();
    for (let job = 0; job < 3; job++) await endedJob(id, now);
    await endedJob(id, now - 61 * MINUTE);
    await sweepAlerts(env, now);
    expect(await texts()).toEqual([]);
    await endedJob(id, now, { status: "job.completed" });
    await sweepAlerts(env, now + 1);
    expect(await texts()).toEqual([`Copra alert ${name}: firing\n3 of 4 jobs failed within an hour`]);
    for (let job = 0; job < 3; job++) await endedJob(id, now, { status: "job.completed" });
    await sweepAlerts(env, now + 2 * MINUTE);
    expect((await texts()).slice(1)).toEqual([expect.stringContaining(": resolved\n")]);
  });

  it("is not delayed by an alert whose receiver never answers", async () => {
    const { id } = await newAccount();
    const silent = await ruled({ when: "job.failed", account: id }, "a-silent");
    const { texts } = await ruled({ when: "job.failed", account: id });
    const now = Date.now() + 1000;
    await endedJob(id, now);
    const { fetch } = globalThis;
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation((request, init) => {
      const isSilent = request instanceof Request && request.url.endsWith("/a-silent");
      return isSilent ? new Promise<Response>(() => {}) : fetch(request, init);
    });
    void sweepAlerts(env, now);
    await vi.waitFor(async () => expect(await texts()).toHaveLength(1));
    spy.mockRestore();
    expect(await silent.texts()).toEqual([]);
    await deleteAlert(env.DB, "a-silent");
  });

  it("reports many failed jobs in a message with their number, and each job once", async () => {
    const [{ id }, other] = [await newAccount(), await newAccount()];
    const { texts } = await ruled({ when: "job.failed", quiet_minutes: 5 });
    const ofTag = await ruled({ when: "job.failed", tags: { "customer.id": "acme" } });
    const ofAccount = await ruled({ when: "job.failed", account: other.id });
    const now = Date.now() + 1000;
    for (let job = 0; job < 30; job++) await endedJob(id, now);
    await endedJob(id, now, { status: "job.completed", tags: { "customer.id": "acme" } });
    await sweepAlerts(env, now);
    const [flood, ...rest] = await texts();
    expect([flood?.split("\n")[0], flood?.split("\n").length, rest]).toEqual([
      expect.stringMatching(/: 30 failed jobs$/),
      11,
      [],
    ]);
    await endedJob(id, now + 2 * MINUTE, { tags: { "customer.id": "acme", order: "7" } });
    await endedJob(other.id, now - 1);
    await sweepAlerts(env, now + 2 * MINUTE);
    expect(await texts()).toHaveLength(1);
    await sweepAlerts(env, now + 5 * MINUTE);
    await sweepAlerts(env, now + 10 * MINUTE);
    expect((await texts()).slice(1)).toEqual([expect.stringMatching(/: 2 failed jobs\nJob /)]);
    expect(await ofTag.texts()).toEqual([expect.stringMatching(/: 1 failed job\n/)]);
    expect(await ofAccount.texts()).toEqual([expect.stringContaining(`of account ${other.id}`)]);
  });

  it("counts failed jobs beyond the number that it lists, each once", async () => {
    const { id } = await newAccount();
    const { texts } = await ruled({ when: "job.failed" });
    const firstLines = async () => (await texts()).map((text) => text.split("\n")[0]?.replace(/.*: /, ""));
    const fail = (count: number, completedAt: number) =>
      env.DB.prepare(
        `INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
         SELECT 'flood-' || ${completedAt} || '-' || i, '${id}', 'job.failed', 1, 0, ${completedAt}, '{}' FROM n`,
      ).run();
    const now = (Math.floor(Date.now() / MINUTE) + 5) * MINUTE;
    await fail(1500, now);
    await fail(900, now - 3 * MINUTE);
    await sweepAlerts(env, now);
    await sweepAlerts(env, now + 2 * MINUTE);
    expect(await firstLines()).toEqual(["2400 failed jobs"]);
    // Their rows are late.
    await fail(40, now - 2 * MINUTE);
    await fail(1200, now + 3 * MINUTE);
    await sweepAlerts(env, now + 4 * MINUTE);
    expect((await firstLines()).slice(1)).toEqual(["1240 failed jobs"]);
    await fail(3, now + 13 * MINUTE);
    await sweepAlerts(env, now + 14 * MINUTE);
    await sweepAlerts(env, now + 16 * MINUTE);
    expect((await firstLines()).slice(2)).toEqual(["3 failed jobs"]);
  });

  it("shows that a message was dropped because its receiver wants none, and sends later changes", async () => {
    const { id } = await newAccount();
    const { name, texts } = await ruled({ when: "job.failed" });
    const now = Date.now() + 1000;
    await respondWith(name, 410);
    await endedJob(id, now);
    await sweepAlerts(env, now);
    await sweepAlerts(env, now + 2 * MINUTE);
    expect(await attempts(name)).toHaveLength(1);
    const last_error = "HTTP 410: the receiver wants no messages, and this message was dropped";
    expect((await admin("GET", `/${name}`)).body).toMatchObject({ last_sent_at: null, last_error });
    await respondWith(name, 200);
    await endedJob(id, now + 3 * MINUTE);
    await sweepAlerts(env, now + 4 * MINUTE);
    expect(await texts()).toEqual([expect.stringMatching(/: 1 failed job\n/)]);
    expect((await admin("GET", `/${name}`)).body.last_error).toBeNull();
  });

  it("sends a message again while its receiver is down, with the same bytes, and then the newer changes", async () => {
    const { id } = await newAccount();
    const { name } = await ruled({ when: "job.failed" });
    const now = Date.now() + 1000;
    await respondWith(name, 500);
    await endedJob(id, now);
    await sweepAlerts(env, now);
    expect((await admin("GET", `/${name}`)).body).toMatchObject({ last_sent_at: null, last_error: "HTTP 500" });
    const stored = JSON.parse((await findAlert(env.DB, name))?.state ?? "").message;
    await endedJob(id, now + MINUTE);
    await sweepAlerts(env, now + 30_000);
    await respondWith(name, 200);
    await sweepAlerts(env, now + MINUTE);
    await sweepAlerts(env, now + 4 * MINUTE);
    const messages = await received(name);
    expect(messages.map(({ body }) => JSON.parse(body).count)).toEqual([1, 1]);
    const sent = (await attempts(name)).map(({ status, body, headers }) => [status, body, headers["webhook-id"]]);
    expect(sent.slice(0, 2)).toEqual([500, 200].map((status) => [status, stored.body, stored.id]));
    expect(sent).toHaveLength(3);
    expect((await admin("GET", `/${name}`)).body).toMatchObject({ last_error: null, last_sent_at: expect.any(String) });
  });

  it("is sent once by two sweeps at the same time", async () => {
    const { texts } = await ruled({ when: "node.lost" });
    const node = await joined("attic", { inspect: 1, encode: 1 });
    node.socket.close();
    await vi.waitFor(async () => expect((await hubOf(env).nodes()).map(({ node }) => node.state)).toEqual(["gone"]));
    // Both sweeps have read the alert before either of them evaluates it.
    const both = Promise.withResolvers<void>();
    let requests = 0;
    const HUB = observed(() => {
      if (++requests === 2) both.resolve();
      return both.promise;
    });
    const now = Date.now() + 2 * MINUTE;
    await Promise.all([sweepAlerts({ ...env, HUB }, now), sweepAlerts({ ...env, HUB }, now)]);
    expect([requests, (await texts()).length]).toEqual([2, 1]);
  });

  it("does not stop the alerts after it when its evaluation fails", async () => {
    const { id } = await newAccount();
    const others = [await ruled({ when: "job.failed" }, "a-before"), await ruled({ when: "job.failed" }, "c-after")];
    const failing = await ruled({ when: "node.lost" }, "b-failing");
    const now = Date.now() + 1000;
    await endedJob(id, now);
    const HUB = { ...env.HUB, getByName: () => ({ nodes: () => Promise.reject(new Error("overloaded")) }) };
    await sweepAlerts({ ...env, HUB: HUB as unknown as typeof env.HUB }, now);
    for (const { texts } of others) expect(await texts()).toHaveLength(1);
    expect(await failing.texts()).toEqual([]);
  });
});

/** The hubs, and a hook that gets each call before its hub does, such as `hub:default nodes`. */
const observed = (hook: (call: string) => unknown): typeof env.HUB => {
  const getByName = (name: string) => ({
    nodes: () => Promise.resolve(hook(`${name} nodes`)).then(() => env.HUB.getByName(name).nodes()),
    demand: () => Promise.resolve(hook(`${name} demand`)).then(() => env.HUB.getByName(name).demand()),
  });
  return { ...env.HUB, getByName } as unknown as typeof env.HUB;
};

it("searches ended jobs by an index", async () => {
  const plan = await planOf(sql`SELECT count(*) ${endedJobs(["job.failed", "job.completed"], { since: 5 })}`);
  expect(plan.join()).toContain("INDEX jobs_by_end (account_id=? AND status=? AND completed_at>?)");
});

it("a sweep without alerts reads and writes no rows, and calls no hub", async () => {
  const { db, work } = measuredDatabase(env.DB);
  const HUB = new Proxy(env.HUB, { get: () => expect.unreachable() });
  await sweepAlerts({ ...env, DB: db, HUB }, Date.now());
  expect(work).toMatchObject({ calls: 1, rowsRead: 0, rowsWritten: 0 });
});

describe("receivers", () => {
  it("get signed webhooks, whose URL and secret no response shows", async () => {
    const name = newName();
    const rule = { when: "node.lost", to: webhook(name) };
    for (const { body } of [
      await admin("PUT", `/${name}`, rule),
      await admin("GET", `/${name}`),
      await admin("GET", ""),
    ]) {
      expect(JSON.stringify(body)).not.toMatch(/whsec_|\/inbox-/);
    }
    const { body: result } = await admin("POST", `/${name}/test`);
    expect(result).toMatchObject({ delivered: true, status: 200 });
    const [test] = await received(name);
    const { "webhook-id": id = "", "webhook-timestamp": at, "webhook-signature": signature } = test?.headers ?? {};
    const expected = await signatureHeaders([SECRET], id, Number(at) * 1000, test?.body ?? "");
    expect(signature).toBe(expected["webhook-signature"]);
    const alert = { event: "alert.test", alert: name, when: "node.lost", count: 0 };
    expect(JSON.parse(test?.body ?? "")).toMatchObject(alert);
  });

  it("get messages in the format of Slack, without a signature", async () => {
    const name = newName();
    await admin("PUT", `/${name}`, { when: "node.lost", to: { type: "slack", url: `${INBOX}/${name}` } });
    await admin("POST", `/${name}/test`);
    const [message] = await received(name);
    expect([JSON.parse(message?.body ?? ""), message?.headers["webhook-signature"]]).toEqual([
      { text: `Copra alert ${name}: test` },
      undefined,
    ]);
  });

  it("get e-mail from an SMTP server, whose errors are shown", async () => {
    const { id } = await newAccount();
    const [name, refused] = [newName(), newName()];
    const to = (...inboxes: string[]) => ({ type: "email", to: inboxes.map((inbox) => `${inbox}@example.com`) });
    await admin("PUT", `/${name}`, { when: "job.failed", to: to(name, `${name}-b`) });
    expect((await admin("GET", `/${name}`)).body.to).toEqual({
      type: "email",
      receiver: `${name}@example.com, ${name}-b@example.com`,
    });
    const now = Date.now() + 1000;
    await endedJob(id, now);
    await sweepAlerts({ ...env, PUBLIC_URL: "https://encode.example.com" }, now);
    const [mail, ...others] = await received(name);
    expect([others, await received(`${name}-b`)]).toEqual([[], [mail]]);
    expect(mail?.body).toMatch(/^From: copra@example\.com$/m);
    expect(mail?.body).toMatch(/^Subject: Copra alert inbox-\d+ of encode\.example\.com: 1 failed job$/m);
    expect(mail?.body).toMatch(/^Message-ID: <alert_[\w-]+@copra>$/m);
    expect(mail?.body).toMatch(/^Job job\d+ of account /m);
    expect(mail?.body).toContain("https://encode.example.com/dashboard?");
    await respondWith(refused, 550);
    await admin("PUT", `/${refused}`, { when: "job.failed", to: to(refused) });
    expect((await admin("POST", `/${refused}/test`)).body).toMatchObject({
      delivered: false,
      status: null,
      error: expect.stringMatching(/550 no such mailbox/),
    });
  });
});

describe("/v2/admin/alerts", () => {
  const lost = { when: "node.lost", to: { type: "slack", url: "https://hooks.slack.com/services/T0/B0/secret" } };

  it("lists, reads, replaces and deletes alerts", async () => {
    await admin("PUT", "/b", lost);
    await admin("PUT", "/a", { ...lost, pool: "gpu" });
    const { body } = await admin("PUT", "/b", { ...lost, quiet_minutes: 30 });
    const to = { type: "slack", receiver: "hooks.slack.com" };
    const state = { firing: [], last_sent_at: null, last_error: null };
    expect(body).toEqual({ name: "b", when: "node.lost", quiet_minutes: 30, to, ...state });
    expect((await admin("GET", "")).body.alerts).toEqual([
      { name: "a", when: "node.lost", pool: "gpu", quiet_minutes: 1, to, ...state },
      body,
    ]);
    expect((await admin("GET", "/b")).body).toEqual(body);
    expect((await admin("DELETE", "/b")).body).toEqual(body);
    await deleteAlert(env.DB, "a");
    for (const [method, path] of [
      ["GET", "/b"],
      ["DELETE", "/b"],
      ["POST", "/b/test"],
    ] as const) {
      expect((await admin(method, path)).body.error_code, `${method} ${path}`).toBe("alert_not_found");
    }
  });

  it.each([
    ["an unknown condition", { when: "load" }, /one of job\.failed, failures, node\.lost, queue\.age, disk\.low/],
    ["a field of another condition", { pool: "gpu", when: "job.failed" }, /no field `pool`/],
    ["a share above 100", { when: "failures", percent: 101 }, /`percent` must be a whole number from 1 to 100/],
    ["tags of a wrong type", { when: "job.failed", tags: "acme" }, /`tags` must be an object/],
    ["an unknown receiver", { to: { type: "sms" } }, /one of webhook, slack, email/],
    [
      "a private address",
      { to: { type: "webhook", url: "http://10.0.0.1/", secret: SECRET } },
      /`to\.url` has the host `10\.0\.0\.1`/,
    ],
    ["a missing secret", { to: { type: "webhook", url: "https://example.com" } }, /`to\.secret` is missing/],
    ["a short secret", { to: { type: "webhook", url: "https://example.com", secret: "whsec_a" } }, /24 to 64 bytes/],
    ["a wrong e-mail address", { to: { type: "email", to: ["a"] } }, /must be an e-mail address/],
  ])("refuses %s", async (_, changes, message) => {
    const { status, body } = await admin("PUT", "/a", { ...lost, ...changes });
    expect([status, body.error_code]).toEqual([400, "request_not_valid"]);
    expect(body.message).toMatch(message);
  });

  it("refuses a name with other characters, and e-mail without an SMTP server", async () => {
    expect((await admin("PUT", "/a%20b", lost)).body.error_code).toBe("request_not_valid");
    const { MAIL: _mail, ...without } = env;
    const init = {
      method: "PUT",
      headers: bearer(ADMIN),
      body: JSON.stringify({ ...lost, to: { type: "email", to: ["a@example.com"] } }),
    };
    const refused = await app.request("/v2/admin/alerts/a", init, without as typeof env);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(/SMTP_URL is not set/)]);
  });
});
