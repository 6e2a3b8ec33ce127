import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { settingsOf } from "../settings.ts";
import { measuredDatabase, planOf } from "../testing/measured-database.ts";
import { deleteExpired, deleteOldRows, type ExpiringTable, portionQuery } from "./expired-rows.ts";

const DAY_MS = 24 * 60 * 60_000;
const NOW = Date.now();
const BEFORE = NOW - 30 * DAY_MS;
/** The limits of a single sweep. */
const LIMITS = { maxPortions: 40, maxMs: 60_000 };

beforeEach(() => env.DB.batch(["jobs", "idempotency_keys"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))));

const insertJobs = (first: number, count: number, completedAt: number | null, checkAt: number | null = null) =>
  env.DB.prepare(
    `INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
     SELECT printf('J%013d', i), 'acc', 'job.completed', 1, ?3, ?4, '{}', ?5 FROM n`,
  )
    .bind(first, first + count, completedAt ?? BEFORE - 1, completedAt, checkAt)
    .run();

const insertKeys = (first: number, count: number, createdAt: number) =>
  env.DB.prepare(
    `INSERT INTO idempotency_keys WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
     SELECT 'acc' || (i % 7), 'key-' || i, '', '', ?3 FROM n`,
  )
    .bind(first, first + count, createdAt)
    .run();

const countOf = async (table: ExpiringTable) =>
  (await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<{ n: number }>())?.n;

it("deletes old rows of ended jobs, but not of unfinished jobs or jobs whose objects keep data", async () => {
  await insertJobs(0, 2500, BEFORE - 1);
  await insertJobs(2500, 10, BEFORE + 1);
  await insertJobs(2510, 10, BEFORE - 1, NOW);
  await insertJobs(2520, 10, null);
  const { db, work } = measuredDatabase(env.DB);
  await deleteExpired(db, "jobs", BEFORE, LIMITS);
  expect(await countOf("jobs")).toBe(30);
  expect([work.rowsWritten, work.calls]).toEqual([2500, 6]);
});

it("continues in the next sweep after the limit of portions", async () => {
  await insertJobs(0, 2500, BEFORE - 1);
  const left: (number | undefined)[] = [];
  for (let sweep = 0; sweep < 3; sweep++) {
    await deleteExpired(env.DB, "jobs", BEFORE, { ...LIMITS, maxPortions: 2 });
    left.push(await countOf("jobs"));
  }
  expect(left).toEqual([1500, 500, 0]);
});

it("deletes ended jobs already after RETENTION_DAYS while the database is nearly full", async () => {
  await insertJobs(0, 10, NOW - 8 * DAY_MS);
  await insertJobs(10, 10, NOW - 6 * DAY_MS);
  const size = (await env.DB.prepare("SELECT 1").run()).meta.size_after;
  const days = { listMs: 30 * DAY_MS, retentionMs: 7 * DAY_MS };
  const sweep = (maxDatabaseBytes: number) => deleteOldRows(env.DB, NOW, { ...days, maxDatabaseBytes }, LIMITS);
  expect([await sweep(size / 0.79), await countOf("jobs")]).toEqual([false, 20]);
  expect([await sweep(size / 0.81), await countOf("jobs")]).toEqual([true, 10]);
});

it("deletes 20,000 rows in a sweep: 720 sweeps a day delete far more than two million rows", async () => {
  await insertJobs(0, 21_000, BEFORE - 1);
  await deleteExpired(env.DB, "jobs", BEFORE, LIMITS);
  expect(await countOf("jobs")).toBe(1000);
});

it("deletes keys after a day, wherever they are in the table", async () => {
  await insertKeys(0, 5000, NOW - 2 * DAY_MS);
  await insertKeys(5000, 5000, NOW);
  await deleteExpired(env.DB, "idempotency_keys", NOW - DAY_MS, LIMITS);
  expect(await countOf("idempotency_keys")).toBe(5000);
  expect(await env.DB.prepare("SELECT min(created_at) AS at FROM idempotency_keys").first()).toEqual({ at: NOW });
});

it.each<[ExpiringTable, string]>([
  ["jobs", "SEARCH jobs USING INDEX jobs_to_expire (completed_at<?)"],
  ["idempotency_keys", "SEARCH idempotency_keys USING COVERING INDEX idempotency_keys_by_age (created_at<?)"],
  ["audit", "SEARCH audit USING PRIMARY KEY (created_at<?)"],
])("finds expired rows of %s by an index", async (table, search) => {
  const steps = await planOf(portionQuery(table, 1));
  expect(steps).toContain(search);
  expect(steps.filter((step) => step.startsWith("SCAN"))).toEqual([]);
});

describe("the setting LIST_DAYS", () => {
  it.each<[Record<string, string>, number]>([
    [{}, 30],
    [{ LIST_DAYS: "90" }, 90],
    [{ LIST_DAYS: "3" }, 7],
    [{ RETENTION_DAYS: "60" }, 60],
    [{ LIST_DAYS: "1", RETENTION_DAYS: "1" }, 1],
  ])("%j keeps the row of an ended job for %i days", (set, days) => {
    expect(settingsOf({ ...env, ...set }).listMs).toBe(days * DAY_MS);
  });

  it.each(["0", "3651", "a month", ""])("rejects the setting %j, and names LIST_DAYS", (set) => {
    expect(() => settingsOf({ ...env, LIST_DAYS: set })).toThrow(/settings are not valid: .*\n.*LIST_DAYS/);
  });
});

it.each<[Record<string, string>, number]>([
  [{}, 10e9],
  [{ MAX_DATABASE_BYTES: "500000000" }, 500e6],
])("%j sets the size limit of the database to %d bytes", (set, bytes) => {
  expect(settingsOf({ ...env, ...set }).maxDatabaseBytes).toBe(bytes);
});
