import {
  createExecutionContext,
  createScheduledController,
  evictDurableObject,
  runInDurableObject,
} from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { JobView } from "#shared/job/job-view.ts";
import type { Env } from "./bindings.ts";
import { findJob, jobsToCheck } from "./db/jobs/jobs.ts";
import { dueLinks } from "./db/upload-links.ts";
import worker from "./index.ts";
import { nextAlarmAt, nextCheckAt } from "./job/effects/job-effects.ts";
import type { JobState } from "./job/state/job-state.ts";
import { jobOf } from "./rpc/job.ts";
import { sweep as round } from "./sweep.ts";
import { basic, checkedJob, jobBody, newAccount, newSpec, operator, send, useAccount } from "./testing/jobs.ts";
import { deletedMetadataResponses, purgedJobResponses } from "./testing/purged-job-responses.ts";
import { loadState, rewriteState } from "./testing/stored-state.ts";
import { claimFrom } from "./testing/turns.ts";
import { newLink } from "./testing/upload-links.ts";

const DAY_MS = 24 * 60 * 60_000;

const account = useAccount();
const ask = (method: string, path: string, body?: unknown, headers = {}) =>
  send(path, { method, body, headers: { ...basic(account.key), ...headers } });

/** Runs a sweep as the cron trigger starts it, after all jobs have become due for a check. */
async function sweep(bindings: Env = env): Promise<void> {
  await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE check_at IS NOT NULL").run();
  await worker.scheduled(createScheduledController({ cron: "*/2 * * * *" }), bindings);
}

const stateOf = (id: string): Promise<JobState | null> =>
  runInDurableObject(jobOf(env, id), (_, { storage }) => loadState(storage));

/** Changes the state on disk, takes the alarm away, and drops the object from memory. */
async function loseAlarm(id: string, change: (state: JobState) => JobState): Promise<void> {
  await rewriteState(jobOf(env, id), change);
  await runInDurableObject(jobOf(env, id), (_, { storage }) => storage.deleteAlarm());
  await evictDurableObject(jobOf(env, id));
}

async function created(): Promise<{ id: string }> {
  const notification = { type: "http", url: "http://127.0.0.1:9/", events: true };
  const { body } = await ask("POST", "/v2/jobs", jobBody({ notification }));
  return body;
}

/** A request that dies between the write of the job's row and the start of the job. */
async function half(key: string): Promise<string> {
  const JOB = new Proxy(env.JOB, {
    get: (target, name) =>
      name === "getByName" ? () => ({ create: () => Promise.reject(new Error("gone")) }) : Reflect.get(target, name),
  });
  const headers = { ...basic(account.key), "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify(jobBody()) };
  const request = new Request<unknown, IncomingRequestCfProperties>("https://copra.test/v2/jobs", init);
  const { status } = await worker.fetch(request, { ...env, JOB }, createExecutionContext());
  expect(status).toBe(500);
  const { body: list } = await ask("GET", "/v2/jobs?limit=1");
  return list.jobs[0].id;
}

describe("a job whose alarm was lost", () => {
  it("gets its alarm back while it runs: a node that is gone loses its lease", async () => {
    const { id } = await created();
    await claimFrom(jobOf(env, id), { nodeId: "node-a", session: "s-a", slotClass: "inspect", max: 1 });
    await loseAlarm(id, (state) => ({
      ...state,
      tasks: state.tasks.map((task) => ({ ...task, lease: task.lease && { ...task.lease, expiresAt: 1 } })),
    }));
    await sweep();
    await vi.waitFor(async () => expect((await stateOf(id))?.tasks[0]).toMatchObject({ phase: "pending", losses: 1 }));
    const row = await findJob(env.DB, account.id, id);
    expect(row?.checkAt).toBeGreaterThan(Date.now() + 5 * 60_000);
  });

  it("gets its alarm back even if its object believes that it is set", async () => {
    const { id } = await created();
    await runInDurableObject(jobOf(env, id), (_, { storage }) => storage.deleteAlarm());
    await sweep();
    const alarm = () => runInDurableObject(jobOf(env, id), (_, { storage }) => storage.getAlarm());
    // While the alarm rings, there is none.
    await vi.waitFor(async () => expect(await alarm()).not.toBeNull());
  });

  it("still notifies its client of its end", async () => {
    const { id } = await created();
    await ask("DELETE", `/v2/jobs/${id}`);
    await loseAlarm(id, (state) => ({
      ...state,
      outbox: state.outbox.map((delivery) => ({ ...delivery, attempts: 0, nextAt: 1, lastResult: null })),
    }));
    await sweep();
    await vi.waitFor(async () => expect((await stateOf(id))?.outbox[0]?.lastResult).toMatch(/^No response/));
  });

  it("is forgotten when its retention is over, and never checked again", async () => {
    const { id } = await created();
    await ask("DELETE", `/v2/jobs/${id}`);
    await vi.waitFor(async () => {
      const state = await stateOf(id);
      expect(state).toMatchObject({ status: "job.aborted", indexedVersion: state?.version });
    });
    await loseAlarm(id, (state) => ({ ...state, completedAt: Date.now() - 8 * DAY_MS, outbox: [] }));
    await sweep();
    await vi.waitFor(async () => expect(await stateOf(id)).toBeNull());
    await vi.waitFor(async () => expect((await findJob(env.DB, account.id, id))?.checkAt).toBeNull());
    expect((await ask("GET", `/v2/jobs/${id}`)).body.status).toBe("job.aborted");
  });
});

describe("a job with an outdated row", () => {
  it("has its row written again", async () => {
    const { id } = await created();
    await ask("DELETE", `/v2/jobs/${id}`);
    const status = async () => (await findJob(env.DB, account.id, id))?.status;
    await vi.waitFor(async () => expect(await status()).toBe("job.aborted"));
    await env.DB.prepare("UPDATE jobs SET status = 'job.starting', version = 1, completed_at = NULL WHERE id = ?")
      .bind(id)
      .run();
    await sweep();
    await vi.waitFor(async () => expect(await status()).toBe("job.aborted"));
  });
});

describe("a job that never started", () => {
  it("is shown as failed on every route", async () => {
    const id = await half("half-1");
    await sweep();
    const error = expect.stringMatching(/create it again/);
    const failed = { status: "video.failed", error_code: "internal_error", error };
    const job = { id, status: "job.failed", progress: "100%", completed_at: expect.any(String) };
    const { status, body } = await ask("GET", `/v2/jobs/${id}`);
    expect([status, body]).toMatchObject([200, { ...job, outputs: [failed, { status: "image.failed" }] }]);
    expect((await ask("GET", "/v2/jobs?status=job.failed")).body.jobs).toEqual([body]);
    const followed = new Request(`https://copra.test/v2/jobs/${id}/events`, { headers: basic(account.key) });
    expect(await (await exports.default.fetch(followed)).text()).toContain("event: end");
    for (const [method, path, code, errorCode, message] of [
      ...purgedJobResponses(id),
      ...deletedMetadataResponses(id),
    ]) {
      const refused = await ask(method, `/v2${path}`);
      expect([refused.status, refused.body.error_code], path).toEqual([code, errorCode]);
      expect(refused.body.message).toMatch(message);
    }
    await sweep();
    expect((await ask("GET", `/v2/jobs/${id}`)).body).toEqual(body);
  });

  it("starts if its request is repeated in time; a later repetition creates a new job", async () => {
    const repeat = (key: string) => ask("POST", "/v2/jobs", jobBody(), { "idempotency-key": key });
    const inTime = await half("half-2");
    await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE id = ?").bind(inTime).run();
    expect(await repeat("half-2")).toMatchObject({ status: 201, body: { id: inTime } });
    // A sweeper that asked the object just before must not end it now.
    expect((await findJob(env.DB, account.id, inTime))?.checkAt).toBeGreaterThan(Date.now());
    const late = await half("half-3");
    await sweep();
    expect(await findJob(env.DB, account.id, inTime)).toMatchObject({ status: "job.starting" });
    const again = await repeat("half-3");
    expect([again.status, again.body.id === late, again.body.status]).toEqual([201, false, "job.starting"]);
  });
});

describe("the check of a job", () => {
  const MINUTE_MS = 60_000;
  it.each([
    [0, 10],
    [10, 20],
    [30, 60],
    [90, 60],
  ])("is due, for a job that is %i minutes old, %i minutes after its next alarm", async (age, minutes) => {
    const spec = await newSpec();
    const state = checkedJob(spec);
    const now = spec.createdAt + age * MINUTE_MS;
    const alarmAt = Math.max(now, nextAlarmAt(state, () => 0, DAY_MS) ?? 0);
    expect(nextCheckAt(state, now, DAY_MS) - alarmAt).toBe(minutes * MINUTE_MS);
  });
});

describe("a sweep", () => {
  it("first checks the jobs that have waited longest, by an index and up to a limit", async () => {
    await env.DB.prepare("DELETE FROM jobs").run();
    const ids = [(await created()).id, (await created()).id, (await created()).id];
    const set = (id: string | undefined, at: number | null) =>
      env.DB.prepare("UPDATE jobs SET check_at = ? WHERE id = ?").bind(at, id).run();
    await Promise.all([set(ids[0], 30), set(ids[1], 10), set(ids[2], null)]);
    const due = async (now: number, limit: number) => (await jobsToCheck(env.DB, now, limit)).map(({ id }) => id);
    expect(await due(30, 5)).toEqual([ids[1], ids[0]]);
    expect(await due(30, 1)).toEqual([ids[1]]);
    expect(await due(20, 5)).toEqual([ids[1]]);
    const plan = await env.DB.prepare(
      'EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE "jobs"."check_at" <= ? ORDER BY "jobs"."check_at" LIMIT ?',
    )
      .bind(1, 1)
      .all();
    expect(JSON.stringify(plan.results)).toContain("USING INDEX jobs_to_check");
  });

  it("continues after a job that cannot be checked", async () => {
    const [first, second] = [await created(), await created()];
    await loseAlarm(second.id, (state) => state);
    const JOB = new Proxy(env.JOB, {
      get: (target, name) =>
        name === "getByName"
          ? (id: string) =>
              id === first.id ? { check: () => Promise.reject(new Error("gone")) } : target.getByName(id)
          : Reflect.get(target, name),
    });
    await sweep({ ...env, JOB });
    // While the alarm rings, there is none.
    const alarm = () => runInDurableObject(jobOf(env, second.id), (_, { storage }) => storage.getAlarm());
    await vi.waitFor(async () => expect(await alarm()).not.toBeNull());
    expect((await findJob(env.DB, account.id, first.id))?.checkAt).toBeGreaterThan(Date.now());
  });

  it("does not wait for an object that hangs", async () => {
    const { id } = await created();
    await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE id = ?").bind(id).run();
    const never = { check: () => new Promise(() => {}) };
    const JOB = new Proxy(env.JOB, {
      get: (target, name) => (name === "getByName" ? () => never : Reflect.get(target, name)),
    });
    await round({ ...env, JOB }, Date.now(), 20);
    expect((await findJob(env.DB, account.id, id))?.checkAt).toBeGreaterThan(Date.now());
  });

  it("continues until no job waits, and ends lost jobs even if their rows are not readable", async () => {
    await env.DB.prepare("DELETE FROM jobs").run();
    const lost = ["{", "{}", JSON.stringify({ id: 1 })];
    const insert = (view: string, index: number) =>
      env.DB.prepare(
        "INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) VALUES (?, ?, 'job.starting', 1, 1, NULL, ?, 1)",
      ).bind(`LOST${String(index).padStart(10, "0")}`, account.id, view);
    await env.DB.batch(Array.from({ length: 60 }, (_, index) => insert(lost[index % lost.length] ?? "", index)));
    await round(env, Date.now());
    const { results } = await env.DB.prepare("SELECT DISTINCT status, check_at FROM jobs WHERE id LIKE 'LOST%'").all();
    expect(results).toEqual([{ status: "job.failed", check_at: null }]);
    const { body } = await ask("GET", "/v2/jobs/LOST0000000000");
    expect(body).toMatchObject({ status: "job.failed", created_at: "1970-01-01 00:00:00 +0000", outputs: [] });
    expect(JobView.parse(body).input.error).toMatch(/create it again/);
  });

  it("deletes rows of jobs that were purged and ended longer than LIST_DAYS ago", async () => {
    await env.DB.prepare("DELETE FROM jobs").run();
    const insert = (id: string, days: number) =>
      env.DB.prepare(
        "INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) VALUES (?, ?, 'job.completed', 2, 1, ?, '{}', NULL)",
      ).bind(id, account.id, Date.now() - days * DAY_MS);
    await env.DB.batch([insert("OLD00000000031", 31), insert("OLD00000000029", 29), insert("OLD00000000091", 91)]);
    await sweep({ ...env, LIST_DAYS: "90" });
    expect((await ask("GET", "/v2/jobs/OLD00000000031")).status).toBe(200);
    await sweep();
    const { body: list } = await ask("GET", "/v2/jobs");
    expect(list.jobs).toHaveLength(1);
    const statuses = ["31", "29", "91"].map(async (days) => (await ask("GET", `/v2/jobs/OLD000000000${days}`)).status);
    expect(await Promise.all(statuses)).toEqual([404, 200, 404]);
  });

  it("removes idempotency keys that are older than a day", async () => {
    const key = (age: number) =>
      env.DB.prepare("INSERT INTO idempotency_keys VALUES ('a', ?, '', '', ?)").bind(`${age}`, Date.now() - age);
    await env.DB.batch([key(DAY_MS + 60_000), key(DAY_MS - 60_000)]);
    await sweep();
    const { results } = await env.DB.prepare("SELECT key FROM idempotency_keys WHERE account_id = 'a'").all();
    expect(results).toEqual([{ key: `${DAY_MS - 60_000}` }]);
  });
});

describe("a sweep's budget", () => {
  /** A binding whose calls never end. */
  const SILENT: object = new Proxy(() => SILENT, {
    get: (_, name) => (name === "then" ? undefined : () => new Promise(() => {})),
  });
  const silentNamespace = { getByName: () => SILENT, idFromName: () => "", get: () => SILENT };
  const expired = async (key: string): Promise<string> => {
    const notification = { type: "http", url: "http://silent.test/hook" };
    const { id } = await newLink(key, { notification });
    await env.DB.prepare("UPDATE upload_links SET expires_at = 1, check_at = 2 WHERE id = ?").bind(id).run();
    return id;
  };
  const statusOf = async (id: string) =>
    env.DB.prepare("SELECT status FROM upload_links WHERE id = ?").bind(id).first("status");

  it.each(["JOB", "HUB", "ACCOUNT", "STORAGE", "MAIL"])("limits each step when %s never answers", async (name) => {
    await created();
    const link = await expired(account.key);
    const { body: upload } = await ask("POST", "/v2/uploads", { name: "a", size: 4 });
    await env.DB.batch([
      env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE check_at IS NOT NULL"),
      env.DB.prepare("UPDATE uploads SET expires_at = 1 WHERE id = ?").bind(upload.id),
    ]);
    await operator.put("/v2/admin/alerts/silent", { when: "node.lost", to: { type: "email", to: ["a@example.com"] } });
    const silent = name === "STORAGE" || name === "MAIL" ? SILENT : silentNamespace;
    await round({ ...env, [name]: silent } as Env, Date.now(), 20, 300).catch(() => undefined);
    if (name !== "STORAGE") expect((await ask("GET", `/v2/uploads/${upload.id}`)).status).toBe(404);
    expect(await statusOf(link)).toBe("expired");
    await operator.delete("/v2/admin/alerts/silent");
  });

  it("sends an operator's alert and another account's webhooks while 30 receivers of links are silent", async () => {
    for (let link = 0; link < 30; link++) await expired(account.key);
    const other = await newAccount();
    const mine = await newLink(other.key, { notification: { type: "http", url: "http://other.test/hook" } });
    await env.DB.prepare("UPDATE upload_links SET expires_at = 1, check_at = 3 WHERE id = ?").bind(mine.id).run();
    const steps: string[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
      const { url } = request as Request;
      steps.push(url);
      return url.includes("silent") ? new Promise<Response>(() => {}) : new Response(null, { status: 204 });
    });
    await round(env, Date.now());
    await vi.waitFor(() => expect(steps).toContain("http://other.test/hook"));
    vi.restoreAllMocks();
    const left = await env.DB.prepare("SELECT count(*) AS n FROM upload_links WHERE status = 'waiting'").first("n");
    expect(left).toBe(0);
  });

  it("shares links among accounts", async () => {
    const rows = Array.from({ length: 120 }, (_, at) => [`many${at}`, "many"]).concat([["few", "few"]]);
    const insert = env.DB.prepare(
      "INSERT INTO upload_links (id, account_id, status, max_bytes, origins, origin, created_at, expires_at, is_announced, check_at) VALUES (?, ?, 'waiting', 1, '[]', '', 1, 1, 1, ?)",
    );
    await env.DB.batch(rows.map(([id, owner], at) => insert.bind(id, owner, at)));
    const due = await dueLinks(env.DB, 1000, 100);
    expect(due).toHaveLength(100);
    expect(due.map(({ id }) => id)).toContain("few");
    await env.DB.prepare("DELETE FROM upload_links WHERE account_id IN ('many', 'few')").run();
  });
});
