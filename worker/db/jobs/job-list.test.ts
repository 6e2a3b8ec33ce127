import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { measuredDatabase, planOf } from "../../testing/measured-database.ts";
import { countUnfinished } from "../accounts.ts";
import { countJobs, MAX_COUNTED } from "./job-counts.ts";
import { ANY_JOB, type JobFilter, type Place } from "./job-filter.ts";
import { listJobs, listQuery, MAX_SEARCHED, type Wanted } from "./job-list.ts";

const SEARCH = "SEARCH jobs USING COVERING INDEX jobs_by_status (account_id=? AND status=?";
const PLACE: Place = { at: 7, id: idOf(5000) };
const FAILED: JobFilter = { ...ANY_JOB, statuses: ["job.failed"] };

beforeEach(() => env.DB.prepare("DELETE FROM jobs").run());

function idOf(at: number): string {
  return `J${String(at).padStart(13, "0")}`;
}

/** Adds jobs of one account, all created in the same millisecond. */
async function insert(from: number, to: number, status: string, view = "{}", createdAt = 7): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at, search) WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
     SELECT printf('J%013d', i), 'acc', ?3, 1, ?5, CASE ?3 WHEN 'job.starting' THEN NULL ELSE 8 END, ?4, 1,
       printf('j%013d', i) || char(10) || printf('media.example.com/%d.mp4', i % 10) FROM n`,
  )
    .bind(from, to, status, view, createdAt)
    .run();
}

/** The ids of all pages, the number of jobs per page, and the largest number of rows that D1 read for a page. */
async function pagesOf(wanted: Omit<Wanted, "after">): Promise<{ ids: string[]; sizes: number[]; most: number }> {
  const ids: string[] = [];
  const sizes: number[] = [];
  let most = 0;
  for (let after: Place | null = null; ; ) {
    const { db, work } = measuredDatabase(env.DB);
    const { jobs, next }: Awaited<ReturnType<typeof listJobs>> = await listJobs(db, "acc", { ...wanted, after });
    expect(work.calls).toBe(1);
    most = Math.max(most, work.rowsRead);
    ids.push(...jobs.map(({ id }) => id));
    sizes.push(jobs.length);
    if (!next) return { ids, sizes, most };
    after = next;
  }
}

describe("a list of jobs", () => {
  const during = { from: 3, before: 9 };
  it.each<[string, Omit<Wanted, "limit">, string, number]>([
    ["a status", { filter: FAILED, after: null }, `${SEARCH})`, 1],
    ["a status after a place", { filter: FAILED, after: PLACE }, `${SEARCH} AND (created_at,id)<(?,?))`, 1],
    ["any status", { filter: ANY_JOB, after: null }, `${SEARCH})`, 4],
    ["any status after a place", { filter: ANY_JOB, after: PLACE }, `${SEARCH} AND (created_at,id)<(?,?))`, 4],
    [
      "a status and a time",
      { filter: { ...FAILED, ...during }, after: null },
      `${SEARCH} AND created_at>? AND created_at<?)`,
      1,
    ],
    [
      "any status and a time after a place",
      { filter: { ...ANY_JOB, ...during }, after: PLACE },
      `${SEARCH} AND created_at>? AND (created_at,id)<(?,?))`,
      4,
    ],
    ["a text", { filter: { ...ANY_JOB, text: "a" }, after: PLACE }, `${SEARCH} AND (created_at,id)<(?,?))`, 4],
  ])("a list of %s searches the index, and scans nothing", async (_, wanted, search, count) => {
    const plan = await planOf(listQuery("acc", { ...wanted, limit: 100 }));
    expect(plan.filter((step) => step === search)).toHaveLength(count);
    const others = plan.filter((step) => step !== search && /\bjobs\b/.test(step));
    expect(new Set(others)).toEqual(new Set(["SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"]));
  });

  it.each<[string, Partial<JobFilter>, index: string, column: string, count: number]>([
    ["end", { sort: "ended" }, "jobs_by_end", "completed_at", 4],
    ["duration", { sort: "took", statuses: ["job.failed"] }, "jobs_by_duration", "took_ms", 1],
  ])("a list by %s searches an index, and scans nothing", async (_, filter, index, column, count) => {
    const plan = await planOf(listQuery("acc", { filter: { ...ANY_JOB, ...filter }, after: PLACE, limit: 100 }));
    const search = `SEARCH jobs USING COVERING INDEX ${index} (account_id=? AND status=? AND ${column}>? AND (${column},id)<(?,?))`;
    expect(plan.filter((step) => step === search)).toHaveLength(count);
    const others = plan.filter((step) => step !== search && /\bjobs\b/.test(step));
    expect(new Set(others)).toEqual(new Set(["SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"]));
  });

  it.each<[Partial<JobFilter>, expected: number[]]>([
    [{ sort: "ended" }, [5, 4, 3, 2, 1, 0]],
    [{ sort: "ended", statuses: ["job.failed"] }, [5, 4, 3]],
    [{ sort: "took" }, [3, 0, 4, 1, 5, 2]],
    [{ sort: "took", text: "/4.mp4" }, [4]],
    [{ sort: "took", from: 6, before: 7 }, [3, 4, 5]],
    [{ sort: "ended", tags: [["tenant", "a"]] }, [4, 1]],
  ])("a list of %j has the ended jobs in this order, on pages of one job, too", async (filter, expected) => {
    await insert(0, 3, "job.completed", "{}", 5);
    await insert(3, 6, "job.failed", "{}", 6);
    await insert(6, 9, "job.starting");
    const changes = [0, 1, 2, 3, 4, 5].map((at) => ({ id: idOf(at), end: 100 + at, took: 9 - (at % 3) }));
    await env.DB.batch(
      changes.map(({ id, end, took }) =>
        env.DB.prepare("UPDATE jobs SET completed_at = ?, took_ms = ? WHERE id = ?").bind(end, took, id),
      ),
    );
    await env.DB.prepare('UPDATE jobs SET tags = \'{"tenant":"a"}\' WHERE took_ms = 8').run();
    for (const limit of [1, 100]) {
      const { ids } = await pagesOf({ filter: { ...ANY_JOB, ...filter }, limit });
      expect(ids).toEqual(expected.map(idOf));
    }
  });

  it("a list reads no more than its page, however many jobs the account has", async () => {
    await insert(0, 4000, "job.completed");
    await insert(4000, 4003, "job.failed");
    await insert(4003, 5000, "job.starting");
    const all = await pagesOf({ filter: ANY_JOB, limit: 100 });
    expect(all.ids).toEqual(Array.from({ length: 5000 }, (_, at) => idOf(4999 - at)));
    const failed = await pagesOf({ filter: FAILED, limit: 2 });
    expect(failed.ids).toEqual([idOf(4002), idOf(4001), idOf(4000)]);
    expect(await pagesOf({ filter: { ...ANY_JOB, statuses: ["job.aborted"] }, limit: 100 })).toMatchObject({
      ids: [],
      sizes: [0],
    });
    // Each row of the page is read in the index, in the table and in two sorts.
    expect([all.most, failed.most]).toEqual([expect.toSatisfy((rows) => rows < 1000), expect.toSatisfy((n) => n < 30)]);
    const { db, work } = measuredDatabase(env.DB);
    expect(await countUnfinished(db, "acc", 100)).toBe(100);
    expect(work.rowsRead).toBeLessThan(210);
  });

  it("has fewer jobs on a page when they are large, and leaves out no job", async () => {
    const many = Array.from({ length: 3000 }, (_, at) => `https://media.example.com/${"folder/".repeat(100)}${at}.jpg`);
    await insert(0, 7, "job.failed", JSON.stringify({ error: "x".repeat(900_000) }));
    const stored = await pagesOf({ filter: ANY_JOB, limit: 5 });
    expect(stored).toMatchObject({ ids: [6, 5, 4, 3, 2, 1, 0].map(idOf), sizes: [3, 3, 1] });
    await env.DB.prepare("DELETE FROM jobs").run();
    const { packView } = await import("./stored-view.ts");
    await insert(0, 7, "job.failed", packView(JSON.stringify({ outputs: [{ urls: many }] })));
    const { sizes, ids } = await pagesOf({ filter: ANY_JOB, limit: 5 });
    expect([sizes, ids.length]).toEqual([[3, 3, 1], 7]);
  });

  it("a list of several statuses, of a time or with a text has exactly the matching jobs", async () => {
    await insert(0, 10, "job.completed", "{}", 5);
    await insert(10, 20, "job.failed", "{}", 6);
    await insert(20, 30, "job.starting");
    const idsOf = async (filter: Partial<JobFilter>) =>
      (await pagesOf({ filter: { ...ANY_JOB, ...filter }, limit: 4 })).ids.map((id) => Number(id.slice(1)));
    const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first - at);
    expect(await idsOf({ statuses: ["job.completed", "job.starting"] })).toEqual([...from(29, 10), ...from(9, 10)]);
    expect(await idsOf({ from: 6 })).toEqual(from(29, 20));
    expect(await idsOf({ before: 6 })).toEqual(from(9, 10));
    expect(await idsOf({ from: 6, before: 7 })).toEqual(from(19, 10));
    expect(await idsOf({ from: 7, before: 6 })).toEqual([]);
    expect(await idsOf({ text: "com/7.mp4" })).toEqual([27, 17, 7]);
    expect(await idsOf({ text: "com/7.mp4", statuses: ["job.failed"], from: 6 })).toEqual([17]);
    expect(await idsOf({ text: idOf(12).toLowerCase() })).toEqual([12]);
    expect(await idsOf({ text: "%" })).toEqual([]);
  });

  it("a list with a text reads a limited number of jobs for each page, and leaves out no job", async () => {
    await insert(0, 5000, "job.completed");
    await insert(5000, 5500, "job.failed");
    const { ids, sizes, most } = await pagesOf({ filter: { ...ANY_JOB, text: "j0000000000042" }, limit: 10 });
    expect([ids, sizes]).toEqual([[idOf(42)], [0, 0, 1]]);
    const all = await pagesOf({ filter: { ...ANY_JOB, text: "/3.mp4" }, limit: 100 });
    expect(all.ids).toEqual(Array.from({ length: 550 }, (_, at) => idOf(5493 - 10 * at)));
    for (const rows of [most, all.most]) expect(rows).toBeLessThan(6 * MAX_SEARCHED);
  });
});

describe("counts of jobs", () => {
  it("counts jobs by status, of a time and with a text", async () => {
    await insert(0, 30, "job.completed", "{}", 5);
    await insert(30, 50, "job.failed");
    const counts = async (filter: Partial<JobFilter>) => await countJobs(env.DB, "acc", { ...ANY_JOB, ...filter });
    const none = { "job.starting": 0, "job.completed": 0, "job.failed": 0, "job.aborted": 0 };
    expect(await counts({})).toEqual({ counts: { ...none, "job.completed": 30, "job.failed": 20 }, isCapped: false });
    expect((await counts({ from: 6 })).counts).toEqual({ ...none, "job.failed": 20 });
    expect((await counts({ text: "/3.mp4" })).counts).toEqual({ ...none, "job.completed": 3, "job.failed": 2 });
    expect((await countJobs(env.DB, "other", ANY_JOB)).counts).toEqual(none);
  });

  it("counts a limited number of jobs, and reports that there are more", async () => {
    await insert(0, MAX_COUNTED + 500, "job.completed");
    const { db, work } = measuredDatabase(env.DB);
    expect(await countJobs(db, "acc", ANY_JOB)).toMatchObject({
      counts: { "job.completed": MAX_COUNTED, "job.failed": 0 },
      isCapped: true,
    });
    expect(work.rowsRead).toBeLessThan(2.1 * MAX_COUNTED);
    const searched = await countJobs(db, "acc", { ...ANY_JOB, text: "example" });
    expect(searched).toMatchObject({ counts: { "job.completed": MAX_SEARCHED }, isCapped: true });
    expect(work.calls).toBe(2);
  });
});
