// The index of jobs with a million of them, on the local D1: lists, writes, and the deletion of expired rows, before
// and after migration 0005. Usage: node local/bootstrap.mjs bench/index.ts [rows] [characters of a view]
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, stop as stopEsbuild } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_splitSqlQuery } from "wrangler";
import { ROOT } from "../local/home/constants.ts";

/** The Worker that runs the control plane's own functions on the database, and answers with what they cost. */
const ENTRY = `
  import { countUnfinished } from "./worker/db/accounts.ts";
  import { deleteExpired } from "./worker/db/expired-rows.ts";
  import { claimKey } from "./worker/db/idempotency.ts";
  import { listJobs } from "./worker/db/job-list.ts";
  import { scheduleChecks, updateJob, upsertJob } from "./worker/db/jobs.ts";
  import { measuredDatabase } from "./worker/testing/measured-database.ts";
  import { packView } from "./worker/db/stored-view.ts";
  const sql = (db, text, ...values) => db.prepare(text).bind(...values).run();
  const calls = { claimKey, countUnfinished, deleteExpired, listJobs, scheduleChecks, sql, updateJob, upsertJob };
  /** Bytes of the database for each of some rows: with a view as it is, and as it is stored. */
  async function space(db, view, rows) {
    const insert = async (stored, count) =>
      (await db.prepare(\`INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        SELECT substr(hex(randomblob(7)), 1, 14), 'account0000001', 'job.completed', 3, i, i, ?2, NULL FROM n\`)
        .bind(count, stored).run()).meta.size_after;
    const sizes = [await insert(view, 1), await insert(view, rows), await insert(packView(view), rows)];
    return [view.length, packView(view).length, (sizes[1] - sizes[0]) / rows, (sizes[2] - sizes[1]) / rows];
  }
  export default {
    async fetch(request, env) {
      const [name, ...args] = await request.json();
      const { db, work } = measuredDatabase(env.DB);
      if (name === "space") return Response.json(await space(env.SPACE, ...args));
      await calls[name](db, ...args);
      return Response.json(work);
    },
  };`;

type Work = { calls: number; rowsRead: number; rowsWritten: number; ms: number };
type Call = (name: string, ...args: unknown[]) => Promise<Work>;

const HEIGHTS = [240, 360, 480, 540, 576, 720, 900, 1080, 1440, 2160];
/** The view of a job with ten outputs. */
const VIEW = JSON.stringify({
  ...{ id: "Ab12Cd34Ef56Gh", created_at: "2026-11-20 20:01:02 +0000", completed_at: "2026-11-20 20:05:09 +0000" },
  ...{ status: "job.completed", progress: "100%", input: { status: "input.transferred" } },
  outputs: HEIGHTS.map((height) => ({
    ...{ key: `mp4:${height}p`, type: "video", format: `mp4:${height}p` },
    url: `https://customer-media.s3.eu-central-1.amazonaws.com/uploads/2026/11/5f0c1b7e/${height}p.mp4`,
    ...{ status: "video.encoded", encoder: "libx264" },
  })),
});

const DAY_MS = 24 * 60 * 60_000;
const NOW = Date.now();
const SPAN_MS = 50 * DAY_MS;
const BEFORE = NOW - 30 * DAY_MS;
const BATCH = 10_000;
const MIGRATION = "0005_bounded_index.sql";

async function start(folder: string): Promise<Miniflare> {
  const built = await build({
    ...{ stdin: { contents: ENTRY, resolveDir: ROOT }, bundle: true, write: false, format: "esm", target: "es2024" },
    ...{ conditions: ["workerd", "worker"], external: ["cloudflare:*", "node:*"], logLevel: "silent" },
  });
  await stopEsbuild();
  const options = {
    ...{ modules: true, script: built.outputFiles[0]?.text ?? "", compatibilityDate: "2026-08-15" },
    ...{ d1Databases: ["DB", "SPACE"], resourcePersistencePath: folder, cf: false, telemetry: { enabled: false } },
  } as const;
  return new Miniflare(convertV4MiniflareOptions(options));
}

/** Runs the migrations whose names `wanted` accepts, each in a transaction, and returns how long each took. */
async function migrate(
  miniflare: Miniflare,
  binding: string,
  wanted: (name: string) => boolean,
): Promise<{ name: string; ms: number }[]> {
  const database = await miniflare.getD1Database(binding);
  const done: { name: string; ms: number }[] = [];
  for (const name of (await readdir(join(ROOT, "migrations"))).filter((file) => file.endsWith(".sql")).toSorted()) {
    if (!wanted(name)) continue;
    const statements = unstable_splitSqlQuery(await readFile(join(ROOT, "migrations", name), "utf8"));
    const startedAt = performance.now();
    await database.batch(statements.map((statement) => database.prepare(statement)));
    done.push({ name, ms: performance.now() - startedAt });
  }
  return done;
}

/**
 * Jobs of 50 days in the order of their creation, each with a view of this size and a random id, 15 % of them of one
 * account (one in 5000 of which failed), and as many keys of the last two days. The newest thousandth has not ended.
 */
async function fill(call: Call, rows: number, viewChars: number): Promise<void> {
  const open = rows - rows / 1000;
  const numbers = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)";
  const account = "CASE WHEN i % 100 < 15 THEN 'big' ELSE 'acc' || (i % 1000) END";
  for (let from = 0; from < rows; from += BATCH) {
    const to = Math.min(rows, from + BATCH);
    await call(
      "sql",
      `INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) ${numbers}, made AS (SELECT i, ?3 + CAST(i * ?4 AS INTEGER) AS at FROM n)
       SELECT substr(hex(randomblob(7)), 1, 14), ${account},
         CASE WHEN i >= ?5 THEN 'job.starting' WHEN i % 5000 = 0 THEN 'job.failed' ELSE 'job.completed' END,
         3, at, CASE WHEN i < ?5 THEN at + 60000 END, hex(randomblob(?7)),
         CASE WHEN i >= ?5 THEN at ELSE nullif(max(?6, at), ?6) END FROM made`,
      ...[from, to, NOW - SPAN_MS, SPAN_MS / rows, open, NOW - 7 * DAY_MS, viewChars / 2],
    );
    await call(
      "sql",
      `INSERT INTO idempotency_keys (account_id, key, body_digest, job_id, created_at) ${numbers}
       SELECT ${account}, hex(randomblob(16)), hex(randomblob(32)), hex(randomblob(7)), ?3 + CAST(i * ?4 AS INTEGER) FROM n`,
      ...[from, to, NOW - 2 * DAY_MS, (2 * DAY_MS) / rows],
    );
  }
}

function print(what: string, work: readonly Work[]): void {
  const ms = work.map((one) => one.ms).toSorted((a, b) => a - b);
  const rows = (of: (one: Work) => number) => (work.reduce((sum, one) => sum + of(one), 0) / work.length).toFixed(0);
  const at = (share: number) => (ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? 0).toFixed(1);
  const cells = [rows((one) => one.calls), rows((one) => one.rowsRead), rows((one) => one.rowsWritten), at(0.5), at(1)];
  console.log(`| ${what} | ${cells.join(" | ")} |`);
}

async function repeat(times: number, step: (at: number) => Promise<Work>): Promise<Work[]> {
  const work: Work[] = [];
  for (let at = 0; at < times; at++) work.push(await step(at));
  return work;
}

/** The statements of the version before 0005. */
const OLD_LIST = (where: string) =>
  `SELECT * FROM jobs WHERE account_id = 'big' ${where} ORDER BY created_at DESC, id DESC LIMIT 21`;
const OLD_PLACE = "AND (created_at < ?1 OR (created_at = ?1 AND id < ?2))";
const OLD_UPSERT = `INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) VALUES (?1, 'big', ?2, ?3, ?4, ?5, '{}', ?4) ON CONFLICT (id) DO UPDATE SET status = ?2, version = ?3, completed_at = ?5, view = '{}', check_at = ?4`;

async function before(call: Call): Promise<void> {
  const list = (where: string, ...values: unknown[]) => repeat(20, () => call("sql", OLD_LIST(where), ...values));
  print("list of all", await list(""));
  print("list of a rare status", await list("AND status = 'job.failed'"));
  print("list of a status without jobs", await list("AND status = 'job.aborted'"));
  print("list of all, in the middle", await list(OLD_PLACE, NOW - 20 * DAY_MS, "8"));
  const id = (at: number) => `OLD${String(at).padStart(11, "0")}`;
  const write = (...values: unknown[]) => repeat(100, (at) => call("sql", OLD_UPSERT, id(at), ...values));
  print("insert", await write("job.starting", 1, NOW, null));
  print("update while it runs", await write("job.starting", 2, NOW, null));
  print("end", await write("job.completed", 3, NOW, NOW));
}

/** What lists search in, besides the id of a job. */
const SEARCH = `\nmedia.example.com/videos/2026/november/interview with a director.mov\n${"customers/4711/video/720p.mp4\n".repeat(8)}`;

async function after(call: Call): Promise<void> {
  const list = (status: string | null, place: unknown = null, text: string | null = null) => {
    const filter = { statuses: status === null ? [] : [status], text, from: null, before: null };
    return repeat(20, () => call("listJobs", "big", { filter, after: place, limit: 20 }));
  };
  print("list of all", await list(null));
  print("list of a rare status", await list("job.failed"));
  print("list of a status without jobs", await list("job.aborted"));
  print("list of all, in the middle", await list(null, { createdAt: NOW - 20 * DAY_MS, id: "8" }));
  print("list of a text that no job has", await list(null, null, "nothing"));
  print("count of unfinished jobs", await repeat(20, () => call("countUnfinished", "big", 10_000)));
  const row = (at: number, changes: object) => ({
    ...{
      id: `NEW${String(at).padStart(11, "0")}`,
      accountId: "big",
      status: "job.starting",
      version: 1,
      createdAt: NOW,
    },
    ...{ completedAt: null, view: "{}", checkAt: NOW, search: SEARCH, usage: null, usageCounted: null, ...changes },
  });
  const keyed = (at: number) => ({ accountId: "big", key: `${at}`, bodyDigest: "x", createdAt: NOW });
  print("insert", await repeat(100, (at) => call("upsertJob", row(at, {}))));
  print(
    "insert with a key",
    await repeat(100, (at) => call("claimKey", { ...keyed(at), jobId: row(at + 100, {}).id }, row(at + 100, {}))),
  );
  print("update while it runs", await repeat(100, (at) => call("updateJob", row(at, { version: 2 }))));
  const ended = { version: 3, status: "job.completed", completedAt: NOW };
  print("end", await repeat(100, (at) => call("updateJob", row(at, ended))));
  print("purge", await repeat(100, (at) => call("scheduleChecks", [{ id: row(at, {}).id, checkAt: null }])));
}

/** Deletes all that is expired, one portion at a time. Returns the portions that deleted anything. */
async function expire(call: Call, table: string, time: number): Promise<Work[]> {
  const portions: Work[] = [];
  for (let isFirst = true; ; isFirst = false) {
    // At the end of the table the search pauses, and a further call only looks at the position.
    const limits = { now: NOW, maxPortions: 1, maxMs: 600_000 };
    const work = await call("deleteExpired", table, { before: time, whenFull: time }, limits);
    if (work.calls < 3) return isFirst ? [] : portions.filter(({ rowsWritten }) => rowsWritten > 1);
    portions.push(work);
  }
}

async function main(): Promise<void> {
  const rows = Number(process.argv[2] ?? 1_000_000);
  const folder = await mkdtemp(join(tmpdir(), "copra-bench-"));
  const miniflare = await start(folder);
  const ask = async (...body: unknown[]): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await miniflare.dispatchFetch("http://bench/", init);
    if (!response.ok) throw new Error(await response.text());
    return await response.json();
  };
  const call: Call = async (...body) => (await ask(...body)) as Work;
  try {
    await migrate(miniflare, "SPACE", () => true);
    const sizes = (await ask("space", VIEW, 20_000)) as number[];
    console.log(`view, stored, row with the view, row as stored: ${sizes.map(Math.round).join(", ")} bytes`);
    if (rows === 0) return;
    await migrate(miniflare, "DB", (name) => name < MIGRATION);
    await fill(call, rows, Number(process.argv[3] ?? 2150));
    console.log(
      `${rows} jobs and keys\n\n| | round trips | rows read | rows written | ms | most ms |\n| --- | --- | --- | --- | --- | --- |`,
    );
    await before(call);
    const migrated = await migrate(miniflare, "DB", (name) => name >= MIGRATION);
    const times = migrated.map(({ name, ms }) => `${name.slice(0, 4)}: ${(ms / 1000).toFixed(1)} s`);
    console.log(`| (migrations ${times.join(", ")}) | | | | | |`);
    await call("sql", "UPDATE jobs SET search = lower(id) || ?1 WHERE account_id = 'big'", SEARCH);
    await after(call);
    for (const [table, time] of [
      ["jobs", BEFORE],
      ["idempotency_keys", NOW - DAY_MS],
    ] as const) {
      const portions = await expire(call, table, time);
      const deleted = portions.reduce((sum, { rowsWritten }) => sum + rowsWritten - 1, 0);
      const ms = portions.reduce((sum, one) => sum + one.ms, 0);
      print(`a portion of ${table}: ${deleted} deleted, ${((ms / deleted) * 1000).toFixed(0)} µs each`, portions);
    }
  } finally {
    await miniflare.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
