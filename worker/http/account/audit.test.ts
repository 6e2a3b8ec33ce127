// The audit: an entry for each change, by route; lists, filters and limits; the creators of jobs.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type AuditRow, entriesQuery, insertEntry } from "../../db/audit.ts";
import { deleteExpired } from "../../db/expired-rows.ts";
import { ADMIN, basic, bearer, jobBody, newAccount, operator, send, useAccount } from "../../testing/jobs.ts";
import { measuredDatabase, planOf } from "../../testing/measured-database.ts";
import { app } from "../app.ts";

const account = useAccount();
const FROM = { "cf-connecting-ip": "203.0.113.7" };
let reporter: { id: string; api_key: string };
beforeAll(async () => {
  const { body } = await operator.post(`/v2/admin/accounts/${account.id}/keys`, { name: "reporter" });
  reporter = body;
});
afterEach(() => vi.restoreAllMocks());

const asReporter = (method: string, path: string, body?: unknown) =>
  send(path, { method, body, headers: { ...basic(reporter.api_key), ...FROM } });
const asOperator = (method: string, path: string, body?: unknown) =>
  send(path, { method, body, headers: { ...bearer(ADMIN), ...FROM } });
const entries = async (query = "") => (await account.get(`/v2/audit${query}`)).body.entries;
const allEntries = async (query = "") => (await operator.get(`/v2/admin/audit${query}`)).body.entries;

const entryOf = (createdAt: number, changes: Partial<AuditRow>): AuditRow => ({
  id: (changes.accountId ?? "busy").padEnd(14, "0"),
  createdAt,
  accountId: "busy",
  actor: "operator",
  ip: null,
  action: "changeJob",
  object: "jobs/a",
  status: 200,
  ...changes,
});

describe("an entry", () => {
  it("has the key, its name and address, the action, the object and the status", async () => {
    await asReporter("PUT", "/v2/templates/web", jobBody());
    const [entry, ...others] = await entries("?object=templates/web");
    expect(others).toEqual([]);
    expect(entry).toEqual({
      id: expect.stringMatching(/^\w{14}$/),
      created_at: expect.stringMatching(/ \+0000$/),
      account: account.id,
      actor: reporter.id,
      actor_name: "reporter",
      ip: "203.0.113.7",
      action: "putTemplate",
      object: "templates/web",
      status: expect.any(Number),
    });
    expect(await allEntries("?object=templates/web")).toEqual([entry]);
  });

  it("is of the operator if the admin token acts for the account, and hides the operator's address", async () => {
    const headers = { ...bearer(ADMIN), ...FROM, "copra-account": account.id };
    await send("/v2/templates/web", { method: "DELETE", headers });
    const expected = { actor: "operator", actor_name: null, ip: null, action: "deleteTemplate" };
    expect(await entries("?action=deleteTemplate")).toMatchObject([expected]);
    const { body } = await send("/v2/audit?action=deleteTemplate", { headers });
    expect(body.entries).toMatchObject([{ ...expected, ip: FROM["cf-connecting-ip"] }]);
  });

  it.each<[string, string, object | undefined, string, string]>([
    ["POST", "/v2/admin/accounts", { name: "new" }, "createAccount", "accounts/NEW"],
    ["POST", "/v2/admin/accounts/ID/limits", { weight: 2 }, "setAccountLimits", "accounts/ID"],
    ["POST", "/v2/admin/accounts/ID/rotate-secret", undefined, "rotateWebhookSecret", "accounts/ID"],
    ["POST", "/v2/admin/accounts/ID/keys", undefined, "createKey", "keys/NEW"],
    ["POST", "/v2/admin/node-tokens", { name: "rack" }, "createNodeToken", "node-tokens/NEW"],
    ["POST", "/v2/admin/reseal", {}, "reseal", "reseal"],
  ])("of %s %s names the object, and no secret", async (method, path, body, action, object) => {
    const { id } = await newAccount();
    const { status, body: response } = await asOperator(method, path.replace("ID", id), body);
    const named = object.replace("ID", id).replace("NEW", response.id ?? response.account_id);
    const listed = await allEntries(`?action=${action}&object=${named}`);
    const isOfService = /node-tokens|reseal/.test(path);
    const of = isOfService ? null : (response.account_id ?? id);
    expect(listed).toMatchObject([{ account: of, actor: "operator", ip: FROM["cf-connecting-ip"], status }]);
    const [entry] = listed;
    for (const secret of ["api_key", "webhook_secret", "node_token"])
      if (response[secret]) expect(JSON.stringify(entry)).not.toContain(response[secret]);
  });

  it("of a revoked key is in the audit of the key's account", async () => {
    const other = await newAccount();
    const { body: key } = await operator.post(`/v2/admin/accounts/${other.id}/keys`);
    await operator.delete(`/v2/admin/keys/${key.id}`);
    const { body } = await other.get(`/v2/audit?object=keys/${key.id}`);
    const actions = body.entries.map(({ action }: { action: string }) => action);
    expect(actions.toSorted()).toEqual(["createKey", "revokeKey"]);
  });

  it("of a failed change is written, because the change may be done", async () => {
    const broken = { ...env, JOB: undefined };
    const { body: job } = await account.post("/v2/jobs", jobBody());
    const init = { method: "DELETE", headers: basic(account.key) };
    expect((await app.request(`/v2/jobs/${job.id}`, init, broken)).status).toBe(500);
    await vi.waitFor(async () => expect(await entries(`?object=jobs/${job.id}&action=cancelJob`)).toHaveLength(1));
  });

  it.each<[string, string, string, object | undefined, number]>([
    ["no credential", "none", "/v2/account/webhook-secret", undefined, 401],
    ["a key without the scope", "scoped", "/v2/account/webhook-secret", undefined, 403],
    ["an unknown job", "key", "/v2/jobs/AAAAAAAAAAAAAA/retry", undefined, 404],
    ["a wrong body", "key", "/v2/jobs/cancel", { ids: 1 }, 400],
  ])("is not written for %s", async (_, credential, path, body, status) => {
    const scoped = await operator.post(`/v2/admin/accounts/${account.id}/keys`, { scopes: ["jobs:read"] });
    const before = await allEntries();
    const keys: Record<string, string> = { key: account.key, scoped: scoped.body.api_key };
    const headers = credential === "none" ? {} : basic(keys[credential] ?? "");
    expect((await send(path, { method: "POST", body, headers })).status).toBe(status);
    expect(await allEntries()).toEqual(before);
  });

  it("that cannot be written does not fail the request, and is logged", async () => {
    const lines = vi.spyOn(console, "log");
    const real = env.DB;
    const batch = (statements: D1PreparedStatement[]) =>
      statements.length === 2 ? Promise.reject(new Error("down")) : real.batch(statements);
    const DB = { prepare: real.prepare.bind(real), batch } as unknown as D1Database;
    const init = { method: "POST", body: JSON.stringify({ weight: 3 }), headers: bearer(ADMIN) };
    const response = await app.request(`/v2/admin/accounts/${account.id}/limits`, init, { ...env, DB });
    expect(response.status).toBe(200);
    expect(lines.mock.calls.flat().join()).toMatch(/"audit entry lost".*"action":"setAccountLimits"/);
  });
});

describe("created jobs", () => {
  it("are listed with their creators, and cost no row of the audit", async () => {
    const countOf = () => env.DB.prepare("SELECT count(*) AS n FROM audit").first("n");
    const before = await countOf();
    const { body: job } = await asReporter("POST", "/v2/jobs", jobBody());
    const batch = await asReporter("POST", "/v2/jobs/batch", { jobs: [jobBody()] });
    expect(await countOf()).toBe(before);
    const sender = { account: account.id, actor: reporter.id, actor_name: "reporter", ip: FROM["cf-connecting-ip"] };
    const created = await entries(`?action=createJob&actor=${reporter.id}`);
    for (const { id } of [job, batch.body.jobs[0]])
      expect(created).toContainEqual(expect.objectContaining({ ...sender, object: `jobs/${id}`, status: 201 }));
    expect(created).toHaveLength(2);
    expect(await entries("?action=createJob&actor=operator")).toEqual([]);
  });

  it("keep their creators while they change, and end the list of their changes", async () => {
    const { body: job } = await asReporter("POST", "/v2/jobs", jobBody());
    await account.delete(`/v2/jobs/${job.id}`);
    await vi.waitFor(async () => {
      const { results } = await env.DB.prepare("SELECT status FROM jobs WHERE id = ?").bind(job.id).all();
      expect(results).toEqual([{ status: "job.aborted" }]);
    });
    const first = await account.get(`/v2/audit?object=jobs/${job.id}&limit=1`);
    expect(first.body.entries).toMatchObject([{ action: "cancelJob", actor_name: null }]);
    const rest = await account.get(`/v2/audit?object=jobs/${job.id}&limit=1&cursor=${first.body.next_cursor}`);
    expect(rest.body.entries).toMatchObject([{ action: "createJob", actor: reporter.id }]);
    expect(rest.body.next_cursor).toBe(null);
  });
});

describe("GET /v2/audit", () => {
  it("shows no entry and no created job of another account", async () => {
    const { body: job } = await account.post("/v2/jobs", jobBody());
    await account.put("/v2/templates/web", jobBody());
    const stranger = await newAccount();
    for (const query of ["", "&action=createJob", `&object=jobs/${job.id}`, "&object=templates", "&actor=operator"]) {
      const { body } = await stranger.get(`/v2/audit?limit=100${query}`);
      const foreign = body.entries.filter((entry: { account: string }) => entry.account !== stranger.id);
      expect([query, foreign]).toEqual([query, []]);
    }
    expect((await stranger.get("/v2/admin/audit")).status).toBe(401);
  });

  it("lists all entries by pages, newest first, and filters them", async () => {
    const other = await newAccount();
    const added = ["templates/a", "templates/b", "templates/c", "templates/a/tokens/f"];
    for (const [at, object] of added.entries()) {
      const action = at < 3 ? "putTemplate" : "createIngestToken";
      await insertEntry(env.DB, entryOf(at + 1, { accountId: other.id, actor: reporter.id, action, object }));
    }
    const objects: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await other.get(`/v2/audit?actor=${reporter.id}&limit=2${cursor}`);
      objects.push(...body.entries.map(({ object }: { object: string }) => object));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(objects).toEqual(added.toReversed());
    const matching = async (query: string) => (await other.get(`/v2/audit?${query}`)).body.entries.length;
    expect([await matching("object=templates/a"), await matching("object=templates")]).toEqual([2, 4]);
    expect([await matching("object=template"), await matching("action=putTemplate")]).toEqual([0, 3]);
    expect(await matching("actor=operator&action=createAccount")).toBe(1);
  });

  it.each([
    [`actor=${"a".repeat(41)}`, "`actor` must have at most 40 characters"],
    ["action=", "`action` must not be empty"],
    [`object=${"o".repeat(201)}`, "`object` must have at most 200 characters"],
    ["cursor=x", "`cursor` must be the `next_cursor` of a previous response"],
    ["limit=0", "`limit` must be a whole number from 1 to 100"],
    ["since=1", "has no field"],
  ])("rejects ?%s with the allowed values", async (query, message) => {
    for (const { status, body } of [
      await account.get(`/v2/audit?${query}`),
      await operator.get(`/v2/admin/audit?${query}`),
    ])
      expect([status, body.error_code, body.message]).toEqual([
        400,
        "query_not_valid",
        expect.stringContaining(message),
      ]);
  });
});

describe("the table of the audit", () => {
  it.each<[string, string | null, object, string]>([
    ["an account", "a", {}, "SEARCH audit USING INDEX audit_by_account (account_id=? AND"],
    ["all accounts", null, {}, "SEARCH audit USING PRIMARY KEY ("],
    ["a job", "a", { object: "jobs/j" }, "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"],
    ["a kind", "a", { object: "jobs" }, "SEARCH audit USING INDEX audit_by_account (account_id=? AND"],
    [
      "an action",
      "a",
      { action: "revokeKey" },
      "SEARCH audit USING INDEX audit_by_action (account_id=? AND action=? AND",
    ],
    ["an action of all accounts", null, { action: "revokeKey" }, "SEARCH audit USING PRIMARY KEY ("],
    ["created jobs", "a", { action: "createJob" }, "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"],
  ])("finds the entries of %s by an index", async (_, account, filter, search) => {
    const steps = await planOf(entriesQuery(account, { ...filter, after: null, limit: 21 }));
    expect(steps).toContainEqual(expect.stringContaining(search));
    expect(steps.filter((step) => /^SCAN (audit|jobs)/.test(step))).toEqual([]);
    expect(steps.includes("USE TEMP B-TREE FOR ORDER BY")).toBe(search.startsWith("SEARCH jobs"));
  });

  it("gets three rows for an entry, and loses the entries that are older than the list of jobs", async () => {
    const { db, work } = measuredDatabase(env.DB);
    await insertEntry(db, entryOf(1, {}));
    expect(work.rowsWritten).toBe(3);
    await insertEntry(db, entryOf(5, {}));
    await deleteExpired(env.DB, "audit", 5, { maxPortions: 1, maxMs: 60_000 });
    const left = env.DB.prepare("SELECT created_at AS at FROM audit WHERE account_id = 'busy'");
    expect((await left.all()).results).toEqual([{ at: 5 }]);
  });

  it("keeps 2,000 entries of an account's action, however many others follow", async () => {
    await env.DB.prepare(
      `INSERT INTO audit WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2009)
       SELECT 'N' || i, i, 'full', 'operator', NULL, 'changeJob', 'jobs/a', 200 FROM n`,
    ).run();
    await insertEntry(env.DB, entryOf(2, { accountId: "full", action: "revokeKey" }));
    await insertEntry(env.DB, entryOf(3, { accountId: "quiet" }));
    await insertEntry(env.DB, entryOf(9000, { accountId: "full" }));
    const left = env.DB.prepare(
      `SELECT account_id AS account, action, count(*) AS n, min(created_at) AS oldest FROM audit
       WHERE account_id IN ('full', 'quiet') GROUP BY account, action`,
    );
    expect((await left.all()).results).toEqual([
      { account: "full", action: "changeJob", n: 2000, oldest: 11 },
      { account: "full", action: "revokeKey", n: 1, oldest: 2 },
      { account: "quiet", action: "changeJob", n: 1, oldest: 3 },
    ]);
  });

  it("keeps 2,000 entries of the operator's changes of an account's keys", async () => {
    const { id } = await newAccount();
    const { body: key } = await operator.post(`/v2/admin/accounts/${id}/keys`);
    await env.DB.prepare(
      `INSERT INTO audit WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2009)
       SELECT 'K' || i, i, ?, 'operator', NULL, 'revokeKey', 'keys/' || ?, 200 FROM n`,
    )
      .bind(id, key.id)
      .run();
    const change = { id: "newest", accountId: null, action: "revokeKey", object: `keys/${key.id}` };
    const { db, work } = measuredDatabase(env.DB);
    await insertEntry(db, entryOf(9000, change));
    const left = env.DB.prepare(
      "SELECT count(*) AS n, min(created_at) AS oldest FROM audit WHERE account_id = ? AND action = 'revokeKey'",
    ).bind(id);
    expect((await left.all()).results).toEqual([{ n: 2000, oldest: 11 }]);
    expect(work.rowsRead).toBeLessThan(2100);
  });
});
