import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { measuredDatabase, planOf } from "../../testing/measured-database.ts";
import { deleteExpired } from "../expired-rows.ts";
import { addTagUsage, deleteOldTagUsage, MAX_VALUES, tagUsageQuery, usageByTag } from "../usage/tag-usage.ts";
import { sumUsage, usageText } from "../usage/usage.ts";
import { DAY_MS, dayOf } from "../usage/usage-day.ts";
import { countJobs } from "./job-counts.ts";
import { ANY_JOB, type JobFilter, type Place, type TagPair } from "./job-filter.ts";
import { listJobs, listQuery, MAX_SEARCHED } from "./job-list.ts";
import { endLostJob, type JobRow, updateJob, updateView, upsertJob } from "./jobs.ts";

beforeEach(() =>
  env.DB.batch(["jobs", "usage_tags", "usage_days"].map((name) => env.DB.prepare(`DELETE FROM ${name}`))),
);

const NOW = Date.UTC(2026, 10, 22, 12);
const TODAY = dayOf(NOW);
const idOf = (at: number): string => `J${String(at).padStart(13, "0")}`;
const job = (at: number, tags: Record<string, string> | null, changes: Partial<JobRow> = {}): JobRow => ({
  id: idOf(at),
  accountId: "acc",
  status: "job.starting",
  version: 1,
  createdAt: NOW,
  completedAt: null,
  view: "{}",
  checkAt: 1,
  search: `text ${at}`,
  usage: null,
  tags: tags && JSON.stringify(tags),
  ...changes,
});
const tagsOf = async (at: number): Promise<Record<string, unknown>> => {
  const { results } = await env.DB.prepare("SELECT name, value FROM job_tags WHERE id = ? ORDER BY name")
    .bind(idOf(at))
    .all();
  return Object.fromEntries(results.map(({ name, value }) => [name, value]));
};
async function rowsWritten(step: (db: D1Database) => Promise<unknown>): Promise<number> {
  const { db, work } = measuredDatabase(env.DB);
  await step(db);
  return work.rowsWritten;
}

/** Adds jobs with tags: `all` is the same, `third` and `half` differ. The statuses alternate. */
async function insert(count: number): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO jobs (id, account_id, status, version, created_at, view, check_at, search, tags)
     WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
     SELECT printf('J%013d', i), 'acc', CASE i % 2 WHEN 0 THEN 'job.completed' ELSE 'job.failed' END, 1, ?2 + i / 10, '{}',
       1, printf('text %d', i),
       json_object('all', 'a', 'third', CAST(i % 3 AS TEXT), 'rare', CAST(i / 100 AS TEXT)) FROM n`,
  )
    .bind(count, NOW)
    .run();
}

const filterOf = (tags: Record<string, string>, changes: Partial<JobFilter> = {}): JobFilter => ({
  ...ANY_JOB,
  tags: Object.entries(tags),
  ...changes,
});

async function pagesOf(filter: JobFilter, limit: number): Promise<{ ids: number[]; pages: number; most: number }> {
  const pages = { ids: [] as number[], pages: 0, most: 0 };
  for (let after: Place | null = null; ; ) {
    const { db, work } = measuredDatabase(env.DB);
    const { jobs, next }: Awaited<ReturnType<typeof listJobs>> = await listJobs(db, "acc", { filter, after, limit });
    pages.ids.push(...jobs.map(({ id }) => Number(id.slice(1))));
    pages.pages += 1;
    pages.most = Math.max(pages.most, work.rowsRead);
    if (!next) return pages;
    after = next;
  }
}
const numbers = (count: number, wanted: (at: number) => boolean): number[] =>
  Array.from({ length: count }, (_, at) => count - 1 - at).filter(wanted);

describe("the index of tags", () => {
  it("follows the tags of a job, and costs a written row for each tag and none without tags", async () => {
    expect(await rowsWritten((db) => upsertJob(db, job(1, null)))).toBe(4);
    expect(await rowsWritten((db) => upsertJob(db, job(2, { a: "1", b: "2", c: "3" })))).toBe(4 + 3);
    expect(await tagsOf(2)).toEqual({ a: "1", b: "2", c: "3" });
    const same = job(2, { c: "3", b: "2", a: "1" }, { version: 2 });
    expect(await rowsWritten((db) => updateJob(db, same))).toBe(1);
    const changed = job(2, { a: "1", b: "4", d: "" }, { version: 3 });
    // The row, two removed tags, two new tags.
    expect(await rowsWritten((db) => updateView(db, changed))).toBe(1 + 2 + 2);
    expect(await tagsOf(2)).toEqual({ a: "1", b: "4", d: "" });
    await updateJob(env.DB, job(2, { old: "1" }, { version: 2 }));
    expect(await tagsOf(2)).toEqual({ a: "1", b: "4", d: "" });
    await updateJob(env.DB, job(2, null, { version: 4, status: "job.failed", completedAt: NOW }));
    expect(await tagsOf(2)).toEqual({});
  });

  it("loses the tags of a job with the job", async () => {
    await upsertJob(env.DB, job(1, { a: "1", b: "2" }, { completedAt: 1, checkAt: null, status: "job.failed" }));
    await deleteExpired(env.DB, "jobs", NOW + 1, { maxPortions: 9, maxMs: 9e9 });
    expect(await env.DB.prepare("SELECT count(*) AS n FROM job_tags").first("n")).toBe(0);
  });
});

describe("a list of jobs with tags", () => {
  const SEARCH = "SEARCH job_tags USING PRIMARY KEY (account_id=? AND name=? AND value=?";
  const place: Place = { at: 7, id: idOf(1) };
  it.each<[string, JobFilter, Place | null, string]>([
    ["a tag", filterOf({ a: "1" }), null, ")"],
    ["a tag after a place", filterOf({ a: "1" }), place, " AND (created_at,id)<(?,?))"],
    ["a tag of a time", filterOf({ a: "1" }, { from: 3, before: 9 }), null, " AND created_at>? AND created_at<?)"],
    [
      "two tags and a status",
      filterOf({ a: "1", b: "" }, { statuses: ["job.failed"] }),
      place,
      " AND (created_at,id)<(?,?))",
    ],
  ])("searches the index of tags for %s, and sorts nothing", async (_, filter, after, rest) => {
    const plan = await planOf(listQuery("acc", { filter, after, limit: 100 }));
    expect(plan).toContain(SEARCH + rest);
    expect(plan.filter((step) => step.startsWith("SCAN job"))).toEqual([]);
  });

  it("has exactly the jobs with all tags, page by page", async () => {
    await insert(600);
    const ofTag = await pagesOf(filterOf({ third: "1" }), 70);
    expect([ofTag.ids, ofTag.pages]).toEqual([numbers(600, (at) => at % 3 === 1), 3]);
    expect(ofTag.most).toBeLessThan(600);
    const both = filterOf({ all: "a", third: "2", rare: "3" });
    expect((await pagesOf(both, 9)).ids).toEqual(numbers(600, (at) => at % 3 === 2 && at >= 300 && at < 400));
    const failed = filterOf({ third: "0" }, { statuses: ["job.failed"] });
    expect((await pagesOf(failed, 50)).ids).toEqual(numbers(600, (at) => at % 3 === 0 && at % 2 === 1));
    expect((await pagesOf(filterOf({ all: "a" }, { text: "text 59", from: NOW + 59 }), 50)).ids).toEqual(
      numbers(600, (at) => at >= 590),
    );
    expect((await pagesOf(filterOf({ all: "b" }), 50)).ids).toEqual([]);
    expect((await pagesOf(filterOf({ all: "a", none: "a" }), 50)).ids).toEqual([]);
  });

  it("follows the rarest tag, and reads a limited number of jobs for each page", async () => {
    await insert(5000);
    const rare = await pagesOf(filterOf({ all: "a", rare: "0" }), 100);
    expect([rare.ids, rare.pages]).toEqual([numbers(100, () => true), 1]);
    const failed = await pagesOf(filterOf({ all: "a" }, { text: "text 42", statuses: ["job.completed"] }), 100);
    expect([failed.ids.length, failed.pages]).toEqual([56, 3]);
    expect(failed.most).toBeLessThan(8 * MAX_SEARCHED);
  });

  it("counts by status", async () => {
    await insert(600);
    const counts = async (filter: JobFilter) => (await countJobs(env.DB, "acc", filter)).counts;
    const none = { "job.starting": 0, "job.aborted": 0 };
    expect(await counts(filterOf({ third: "1" }))).toEqual({ ...none, "job.completed": 100, "job.failed": 100 });
    expect(await counts(filterOf({ third: "1", rare: "0" }))).toEqual({
      ...none,
      "job.completed": 16,
      "job.failed": 17,
    });
    expect(await counts(filterOf({ all: "a" }, { text: "text 599" }))).toMatchObject({ "job.failed": 1 });
    expect(await countJobs(env.DB, "other", filterOf({ all: "a" }))).toMatchObject({ isCapped: false });
  });
});

describe("usage by tag", () => {
  const used = { ...sumUsage([]), completed: 1, hdMs: 1000 };
  const ended = (at: number, tags: Record<string, string> | null, changes: Partial<JobRow> = {}): JobRow =>
    job(at, tags, { status: "job.completed", completedAt: NOW, usage: usageText(used), ...changes });
  const usage = async (name: string, from = TODAY): Promise<Record<string, number>> => {
    const usage = await usageByTag(env.DB, "acc", name, { from, to: TODAY });
    return Object.fromEntries(usage.map(({ value, completed }) => [value, completed]));
  };

  it("sums up the jobs of each value once, also when rows are written again and after later rounds", async () => {
    const rows = [
      ended(1, { tenant: "a" }),
      ended(2, { tenant: "a", x: "y" }),
      ended(3, { tenant: "b" }),
      ended(4, null),
    ];
    for (let round = 0; round < 2; round++) {
      for (const row of [...rows, ended(5, { tenant: "a" }, { accountId: "other" })]) await upsertJob(env.DB, row);
      expect([await usage("tenant"), await usage("x"), await usage("z")]).toEqual([{ a: 2, b: 1 }, { y: 1 }, {}]);
    }
    const again = usageText({ ...used, completed: 2 });
    await upsertJob(env.DB, ended(3, { tenant: "b" }, { version: 5, usage: again }));
    expect([await usage("tenant"), await usage("tenant", TODAY - 9)]).toEqual([
      { a: 2, b: 2 },
      { a: 2, b: 2 },
    ]);
  });

  it("counts a lost job for its tags", async () => {
    const lost = job(1, { tenant: "a" });
    await upsertJob(env.DB, lost);
    await endLostJob(env.DB, lost, { status: "job.failed", completedAt: NOW, view: "{}" });
    const [found] = await usageByTag(env.DB, "acc", "tenant", { from: TODAY, to: TODAY });
    expect(found).toMatchObject({ value: "a", failed: 1 });
  });

  it("costs nothing for jobs without tags, and a row for each value", async () => {
    const written = (row: JobRow) => rowsWritten((db) => upsertJob(db, row));
    const without = await written(ended(1, null));
    // The tags are in the index of tags, too.
    expect(await written(ended(2, { a: "1", b: "1" }))).toBe(without + 2 + 2);
  });

  it("keeps the first 1,000 values of a day, and later values of jobs that have one of them", async () => {
    await env.DB.prepare(
      `INSERT INTO usage_tags WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
       SELECT ?2, 'acc', 'n', printf('%05d', i), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n`,
    )
      .bind(MAX_VALUES - 1, TODAY)
      .run();
    const values = ["00999", "01000", "00007"];
    for (const [at, n] of values.entries()) await upsertJob(env.DB, ended(at, { n }));
    const before = await usage("n");
    expect([Object.keys(before).length, ...values.map((value) => before[value])]).toEqual([
      MAX_VALUES,
      1,
      undefined,
      2,
    ]);
    await deleteOldTagUsage(env.DB, TODAY + 400);
    expect(Object.keys(await usage("n"))).toHaveLength(MAX_VALUES);
    await deleteOldTagUsage(env.DB, TODAY + 401);
    expect(await env.DB.prepare("SELECT count(*) AS n FROM usage_tags").first("n")).toBe(0);
  });

  it("searches days and jobs by their keys", async () => {
    const query = tagUsageQuery("acc", "tenant", { from: TODAY - 365, to: TODAY });
    expect(await planOf(query)).toContain("SEARCH one USING PRIMARY KEY (day=? AND account_id=? AND name=?)");
    const row = { id: idOf(1), accountId: "acc", completedAt: NOW, usage: usageText(used) };
    const steps = await planOf(addTagUsage(row, "{}", sql`true`));
    expect(steps.filter((step) => /^SCAN (?:stored|kept|jobs|usage_tags)\b/.test(step))).toEqual([]);
  });

  it.each<[TagPair]>([[["a", "1"]], [["a", ""]], [["a", "ü'\"%"]]])("finds the tag %j", async ([name, value]) => {
    await upsertJob(env.DB, ended(1, { [name]: value }));
    expect(await usage(name)).toEqual({ [value]: 1 });
    expect((await pagesOf(filterOf({ [name]: value }), 9)).ids).toEqual([1]);
  });

  it("counts jobs on the days of their ends", async () => {
    const row = ended(1, { a: "1" }, { createdAt: NOW - 3 * DAY_MS, completedAt: NOW - 2 * DAY_MS });
    await upsertJob(env.DB, row);
    expect([await usage("a"), await usage("a", TODAY - 2)]).toEqual([{}, { 1: 1 }]);
  });
});
