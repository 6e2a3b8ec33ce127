import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { settingsOf } from "../settings.ts";
import { faultyDatabase } from "../testing/faulty-database.ts";
import { measuredDatabase, planOf } from "../testing/measured-database.ts";
import { deleteExpired, type ExpiringTable, portionQueries } from "./expired-rows.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.now();
const BEFORE = NOW - 30 * DAY_MS;
const JOBS = { before: BEFORE, whenFull: NOW - 7 * DAY_MS };
const KEYS = { before: NOW - DAY_MS, whenFull: NOW - DAY_MS };
/** The limits of a single sweep. */
const LIMITS = { now: NOW, maxPortions: 40, maxMs: 60_000, maxBytes: 10e9 };

beforeEach(async () => {
  await env.DB.batch(
    ["jobs", "idempotency_keys", "sweep_positions"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
});

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

describe("expired jobs", () => {
  it("deletes old rows of ended jobs, but not of unfinished jobs or jobs whose objects keep data", async () => {
    await insertJobs(0, 2500, BEFORE - 1);
    await insertJobs(2500, 10, BEFORE + 1);
    await insertJobs(2510, 10, BEFORE - 1, NOW);
    await insertJobs(2520, 10, null);
    const { db, work } = measuredDatabase(env.DB);
    await deleteExpired(db, "jobs", JOBS, LIMITS);
    expect(await countOf("jobs")).toBe(30);
    // Each deleted row, and the position six times. The position is read first.
    expect([work.rowsWritten, work.calls]).toEqual([2506, 13]);
  });

  it("continues where the previous sweep stopped, and starts again after an hour", async () => {
    await insertJobs(0, 2500, BEFORE - 1);
    const sweep = (now: number) => deleteExpired(env.DB, "jobs", JOBS, { ...LIMITS, now, maxPortions: 2 });
    const left: (number | undefined)[] = [];
    for (let minute = 0; minute < 6; minute += 2) {
      await sweep(NOW + minute * 60_000);
      left.push(await countOf("jobs"));
    }
    await insertJobs(0, 10, BEFORE - 1);
    for (const now of [NOW + 6 * 60_000, NOW + HOUR_MS - 1, NOW + HOUR_MS]) {
      await sweep(now);
      left.push(await countOf("jobs"));
    }
    expect(left).toEqual([1500, 500, 0, 10, 10, 0]);
  });

  it("continues after an interrupted sweep where that sweep stopped", async () => {
    await insertJobs(0, 1000, NOW);
    await insertJobs(1000, 1500, BEFORE - 1);
    // First the position, then a portion and its position each time.
    const ended = faultyDatabase(env.DB, (call) => (call > 7 ? "rejects" : null));
    const all = { ...JOBS, before: NOW + 1 };
    await expect(deleteExpired(ended, "jobs", all, LIMITS)).rejects.toThrow();
    expect(await countOf("jobs")).toBe(1000);
    const { db, work } = measuredDatabase(env.DB);
    await deleteExpired(db, "jobs", all, LIMITS);
    expect([await countOf("jobs"), work.calls]).toEqual([0, 7]);
  });

  it("deletes ended jobs already after RETENTION_DAYS while the database is nearly full", async () => {
    await insertJobs(0, 10, NOW - 8 * DAY_MS);
    await insertJobs(10, 10, NOW - 6 * DAY_MS);
    const size = (await env.DB.prepare("SELECT 1").run()).meta.size_after;
    const sweep = (maxBytes: number, now: number) => deleteExpired(env.DB, "jobs", JOBS, { ...LIMITS, now, maxBytes });
    expect([await sweep(size / 0.79, NOW), await countOf("jobs")]).toEqual([false, 20]);
    expect([await sweep(size / 0.81, NOW + HOUR_MS), await countOf("jobs")]).toEqual([true, 10]);
  });

  it("deletes 20,000 rows in a sweep: 720 sweeps a day delete far more than two million rows", async () => {
    await insertJobs(0, 21_000, BEFORE - 1);
    await deleteExpired(env.DB, "jobs", JOBS, LIMITS);
    expect(await countOf("jobs")).toBe(1000);
  });
});

describe("expired idempotency keys", () => {
  it("deletes keys after a day, wherever they are in the table", async () => {
    await insertKeys(0, 5000, NOW - 2 * DAY_MS);
    await insertKeys(5000, 5000, NOW);
    for (let sweep = 0; sweep < 3; sweep++) {
      await deleteExpired(env.DB, "idempotency_keys", KEYS, { ...LIMITS, maxPortions: 4 });
    }
    expect(await countOf("idempotency_keys")).toBe(5000);
    expect(await env.DB.prepare("SELECT min(created_at) AS at FROM idempotency_keys").first()).toEqual({ at: NOW });
  });
});

describe("a portion of a table", () => {
  it.each<[ExpiringTable, string | null]>([
    ["jobs", "17"],
    ["jobs", null],
    ["idempotency_keys", '["acc","key"]'],
    ["idempotency_keys", null],
  ])("finds a portion of %s after %s by the key of the table", async (table, position) => {
    const steps = (await Promise.all(portionQueries(table, position, 1).map(planOf))).flat();
    const reads = steps.filter((step) => /^(?:SCAN|SEARCH) (?:jobs|idempotency_keys)/.test(step));
    const key = table === "jobs" ? "INTEGER PRIMARY KEY (rowid" : "PRIMARY KEY (";
    expect(reads).toHaveLength(3);
    for (const read of reads) expect(read).toContain(`SEARCH ${table} USING ${key}`);
    expect(steps.join()).not.toContain("B-TREE");
  });
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
