// A database that the previous version of the service made and used, brought up to date.
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { countUnfinished, findAccount, listAccounts } from "./accounts.ts";
import {
  accountOfKey,
  credentialId,
  insertKey,
  listKeys,
  listNodeTokens,
  nodeTokenOf,
  revokeKey,
  revokeNodeToken,
} from "./credentials.ts";
import { deleteExpired } from "./expired-rows.ts";
import { claimKey } from "./idempotency.ts";
import { ANY_JOB } from "./job-filter.ts";
import { listJobs } from "./job-list.ts";
import { endLostJob, findJob, jobsToCheck, scheduleChecks, upsertJob } from "./jobs.ts";

const DAY_MS = 24 * 60 * 60_000;
const tablesOf = async (): Promise<string[]> => {
  const found = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'",
  ).all<{ name: string }>();
  return found.results.map(({ name }) => name);
};

/** Before these migrations, what the schema's tables hold is written by hand, as that version wrote it. */
const WRITTEN: Record<string, readonly string[]> = {
  "0001_idempotency_keys.sql": [
    "INSERT INTO accounts VALUES ('acc', 'Old', 's1.t1.AAAA', 1)",
    "INSERT INTO api_keys VALUES ('aaaaaaaaaaaa01', 'acc', 2, NULL), ('bbbbbbbbbbbb02', 'acc', 3, 4)",
    "INSERT INTO node_tokens VALUES ('cccccccccccc03', 'attic', 5, NULL)",
    `INSERT INTO jobs VALUES ('AAAAAAAAAAAAA1', 'acc', 'job.starting', 3, 100, NULL, '{"id":"AAAAAAAAAAAAA1"}')`,
  ],
  "0002_check_at.sql": [
    "INSERT INTO idempotency_keys VALUES ('acc', 'order', 'digest', 'AAAAAAAAAAAAA1', 100)",
    `INSERT INTO jobs VALUES ('AAAAAAAAAAAAA2', 'acc', 'job.completed', 5, 200, 300, '{"id":"AAAAAAAAAAAAA2"}')`,
    `INSERT INTO jobs VALUES ('AAAAAAAAAAAAA3', 'acc', 'job.failed', 5, 300, ${Date.now() - DAY_MS}, '{}')`,
  ],
  "0003_rotation_and_limits.sql": [
    "INSERT INTO jobs VALUES ('AAAAAAAAAAAAA0', 'acc', 'job.starting', 1, 50, NULL, '{}', NULL)",
  ],
  "0004_pools_and_weights.sql": [
    "INSERT INTO node_tokens VALUES ('eeeeeeeeeeee05', 'cellar', 6, NULL, NULL, NULL)",
    "INSERT INTO accounts VALUES ('acc2', 'Newer', 's1.t1.AAAA', 2, NULL, NULL, 7)",
  ],
  "0005_bounded_index.sql": [],
  "0006_search_and_uploads.sql": [],
  "0007_usage.sql": [],
  "0008_keys_half.sql": [
    `INSERT INTO idempotency_keys VALUES ('acc', 'odd', 'digest', 'AAAAAAAAAAAAA2', 301)`,
    `INSERT INTO idempotency_keys VALUES ('acc', 'again', 'digest', 'AAAAAAAAAAAAA2', 302)`,
  ],
  // A key that has come between the two, and one that a new request got after it was copied.
  "0009_keys_without_rowid.sql": [
    `INSERT INTO idempotency_keys VALUES ('acc', 'recent', 'digest', 'AAAAAAAAAAAAA2', ${2 * Math.ceil(Date.now() / 2)})`,
    `UPDATE idempotency_keys SET job_id = 'AAAAAAAAAAAAA3', created_at = ${Date.now()} WHERE key = 'again'`,
  ],
  "0010_session_links.sql": [],
  "0011_ended_sessions.sql": [],
};

/** The schema of before a migration, with the rows of that time; then the migration itself, and so on to the last. */
beforeEach(async () => {
  const tables = await tablesOf();
  // Those that refer to others first.
  const ordered = tables.toSorted((one) => (one === "api_keys" ? -1 : 0));
  for (const name of ordered) await env.DB.prepare(`DROP TABLE "${name}"`).run();
  const migrations: D1Migration[] = env.MIGRATIONS;
  for (const [index, { name }] of migrations.entries()) {
    for (const statement of WRITTEN[name] ?? []) await env.DB.prepare(statement).run();
    await applyD1Migrations(env.DB, migrations.slice(0, index + 1));
  }
});

it("accepts the same keys and tokens as before", async () => {
  expect(await accountOfKey(env.DB, ["new", "aaaaaaaaaaaa01"])).toMatchObject({
    account: {
      id: "acc",
      name: "Old",
      maxUnfinishedJobs: null,
      sealedPreviousSecret: null,
      weight: 1,
      maxRunning: null,
    },
  });
  expect(await accountOfKey(env.DB, ["bbbbbbbbbbbb02"])).toBeNull();
  expect(await nodeTokenOf(env.DB, ["cccccccccccc03"])).toEqual({
    ...{ id: "cccccccccccc", digest: "cccccccccccc03", pool: "default", labels: [] },
  });
  expect([(await findAccount(env.DB, "acc"))?.name, (await listAccounts(env.DB)).length]).toEqual(["Old", 2]);
  // Two of its jobs have not ended: one is alive, the other has lost its object.
  expect([await countUnfinished(env.DB, "acc", 10), await countUnfinished(env.DB, "acc", 1)]).toEqual([2, 1]);
  await insertKey(env.DB, "acc", { digest: "dddddddddddd04", pepper: "p2" }, 9);
  expect(await revokeKey(env.DB, credentialId("aaaaaaaaaaaa01"), 10)).toBe(true);
  expect((await listKeys(env.DB, "acc")).map(({ revokedAt }) => revokedAt)).toEqual([10, 4, null]);
  expect(await revokeNodeToken(env.DB, credentialId("cccccccccccc03"), 11)).toBe("default");
  expect(await listNodeTokens(env.DB)).toMatchObject([{ name: "attic", revokedAt: 11 }, { name: "cellar" }]);
  const { results: tokens } = await env.DB.prepare("SELECT DISTINCT pool, labels FROM node_tokens").all();
  expect(tokens).toEqual([{ pool: "default", labels: "[]" }]);
});

it("has its jobs, and checks those of which anything may be kept", async () => {
  const { jobs: all } = await listJobs(env.DB, "acc", { filter: ANY_JOB, after: null, limit: 10 });
  expect(all.map(({ id, status, version }) => [id, status, version])).toEqual([
    ["AAAAAAAAAAAAA3", "job.failed", 5],
    ["AAAAAAAAAAAAA2", "job.completed", 5],
    ["AAAAAAAAAAAAA1", "job.starting", 3],
    ["AAAAAAAAAAAAA0", "job.starting", 1],
  ]);
  // What lives comes at once, what has ended between a day and eight from now, and what ended ages ago never.
  const [alive, ended, ...others] = await jobsToCheck(env.DB, Date.now() + 8 * DAY_MS, 10);
  if (!alive || !ended) throw new Error("Jobs are missing");
  expect([alive.id, alive.checkAt, ended.id, others]).toEqual(["AAAAAAAAAAAAA1", 0, "AAAAAAAAAAAAA3", []]);
  expect(ended.checkAt).toBeGreaterThan(Date.now() + DAY_MS - 60_000);
  await upsertJob(env.DB, { ...ended, view: "{}", search: null, usage: null, version: 4, status: "job.starting" });
  expect((await findJob(env.DB, "acc", ended.id))?.status).toBe("job.failed");
  await scheduleChecks(env.DB, [{ id: ended.id, checkAt: null }]);
  const end = { status: "job.failed", completedAt: 400, view: "{}" };
  // A request that came again has begun it since.
  await upsertJob(env.DB, { ...alive, view: "{}", search: null, usage: null, checkAt: 1 });
  await endLostJob(env.DB, alive, end);
  expect(await findJob(env.DB, "acc", alive.id)).toMatchObject({ status: "job.starting", checkAt: 1 });
  await endLostJob(env.DB, { ...alive, checkAt: 1 }, end);
  expect(await findJob(env.DB, "acc", alive.id)).toMatchObject({ status: "job.failed", version: 3, checkAt: null });
  expect(await jobsToCheck(env.DB, Date.now() + 8 * DAY_MS, 10)).toEqual([]);
});

it("keeps idempotency keys", async () => {
  const again = { accountId: "acc", key: "order", bodyDigest: "other", jobId: "AAAAAAAAAAAAA9", createdAt: 200 };
  const { jobId: id, accountId, createdAt } = again;
  const row = {
    id,
    accountId,
    createdAt,
    status: "job.starting",
    version: 1,
    completedAt: null,
    view: "{}",
    checkAt: 1,
    search: null,
    usage: null,
  };
  expect(await claimKey(env.DB, again, row)).toMatchObject({ jobId: "AAAAAAAAAAAAA1", bodyDigest: "digest" });
  await deleteExpired(
    env.DB,
    "idempotency_keys",
    { before: 101, whenFull: 101 },
    { now: Date.now(), maxPortions: 1, maxMs: 1000 },
  );
  expect(await claimKey(env.DB, again, row)).toEqual(again);
  expect(await findJob(env.DB, "acc", id)).toEqual(row);
});

it("still runs what the previous version does", async () => {
  const statements = [
    `insert into idempotency_keys (account_id, key, body_digest, job_id, created_at) values ('acc', 'two', '', '', 300)
      on conflict (account_id, key) do update set job_id = 'x' where idempotency_keys.created_at < 300`,
    `delete from idempotency_keys where rowid in
      (select rowid from idempotency_keys where created_at < 200 order by created_at limit 1000)`,
    "select count(*) from (select 1 from jobs where account_id = 'acc' and completed_at is null limit 9)",
    `insert into jobs (id, account_id, status, version, created_at, completed_at, view, check_at)
      values ('AAAAAAAAAAAAA8', 'acc', 'job.starting', 1, 1, null, '{}', 1)`,
    "insert into node_tokens (digest, name, created_at, revoked_at, id, pepper) values ('f', 'x', 1, null, null, null)",
  ];
  await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
  const keys = await env.DB.prepare("SELECT key, job_id AS id FROM idempotency_keys").all<{
    key: string;
    id: string;
  }>();
  expect(keys.results.map(({ key, id }) => [key, id.at(-1)])).toEqual([
    ["again", "3"],
    ["odd", "2"],
    ["order", "1"],
    ["recent", "2"],
    ["two", undefined],
  ]);
});

it("has rows from before each migration", () => {
  const later = env.MIGRATIONS.slice(1).map(({ name }) => name);
  expect(Object.keys(WRITTEN)).toEqual(later);
});
