import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { measuredDatabase, planOf } from "../testing/measured-database.ts";
import { countUnfinished } from "./accounts.ts";
import { type Listed, listJobs, listQuery } from "./job-list.ts";

const SEARCH = "SEARCH jobs USING COVERING INDEX jobs_by_status (account_id=? AND status=?";
const PLACE = { createdAt: 7, id: idOf(5000) };

beforeEach(() => env.DB.prepare("DELETE FROM jobs").run());

function idOf(at: number): string {
  return `J${String(at).padStart(13, "0")}`;
}

/** Adds jobs of one account, all created in the same millisecond. */
async function insert(from: number, to: number, status: string, view = "{}"): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO jobs WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
     SELECT printf('J%013d', i), 'acc', ?3, 1, 7, CASE ?3 WHEN 'job.starting' THEN NULL ELSE 8 END, ?4, 1 FROM n`,
  )
    .bind(from, to, status, view)
    .run();
}

/** The ids of all pages, and of each page the number of its jobs and of the rows that D1 read. */
async function pagesOf(wanted: Omit<Listed, "after">): Promise<{ ids: string[]; sizes: number[]; most: number }> {
  const ids: string[] = [];
  const sizes: number[] = [];
  let most = 0;
  for (let after: Listed["after"] = null; ; ) {
    const { db, work } = measuredDatabase(env.DB);
    const { jobs, hasMore } = await listJobs(db, "acc", { ...wanted, after });
    expect(work.calls).toBe(1);
    most = Math.max(most, work.rowsRead);
    ids.push(...jobs.map(({ id }) => id));
    sizes.push(jobs.length);
    const last = jobs.at(-1);
    if (!hasMore || !last) return { ids, sizes, most };
    after = { createdAt: last.createdAt, id: last.id };
  }
}

describe("a list of jobs", () => {
  it.each<[string, Omit<Listed, "limit">, string, number]>([
    ["a status", { status: "job.failed", after: null }, `${SEARCH})`, 1],
    ["a status after a place", { status: "job.failed", after: PLACE }, `${SEARCH} AND (created_at,id)<(?,?))`, 1],
    ["any status", { status: null, after: null }, `${SEARCH})`, 4],
    ["any status after a place", { status: null, after: PLACE }, `${SEARCH} AND (created_at,id)<(?,?))`, 4],
  ])("of %s searches the index, and scans nothing", async (_, wanted, search, count) => {
    const plan = await planOf(listQuery("acc", { ...wanted, limit: 100 }));
    expect(plan.filter((step) => step === search)).toHaveLength(count);
    const others = plan.filter((step) => step !== search && /\bjobs\b/.test(step));
    expect(others).toEqual(["SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"]);
  });

  it("reads no more than its page, however many jobs the account has", async () => {
    await insert(0, 4000, "job.completed");
    await insert(4000, 4003, "job.failed");
    await insert(4003, 5000, "job.starting");
    const all = await pagesOf({ status: null, limit: 100 });
    expect(all.ids).toEqual(Array.from({ length: 5000 }, (_, at) => idOf(4999 - at)));
    const failed = await pagesOf({ status: "job.failed", limit: 2 });
    expect(failed.ids).toEqual([idOf(4002), idOf(4001), idOf(4000)]);
    expect(await pagesOf({ status: "job.aborted", limit: 100 })).toMatchObject({ ids: [], sizes: [0] });
    // Each row of the page is read in the index, in the table and in two sorts.
    expect([all.most, failed.most]).toEqual([expect.toSatisfy((rows) => rows < 1000), expect.toSatisfy((n) => n < 30)]);
    const { db, work } = measuredDatabase(env.DB);
    expect(await countUnfinished(db, "acc", 100)).toBe(100);
    expect(work.rowsRead).toBeLessThan(210);
  });

  it("has smaller pages of larger jobs, and leaves none out", async () => {
    const many = Array.from({ length: 3000 }, (_, at) => `https://media.example.com/${"folder/".repeat(100)}${at}.jpg`);
    await insert(0, 7, "job.failed", JSON.stringify({ error: "x".repeat(900_000) }));
    const stored = await pagesOf({ status: null, limit: 5 });
    expect(stored).toMatchObject({ ids: [6, 5, 4, 3, 2, 1, 0].map(idOf), sizes: [3, 3, 1] });
    await env.DB.prepare("DELETE FROM jobs").run();
    const { packView } = await import("./stored-view.ts");
    await insert(0, 7, "job.failed", packView(JSON.stringify({ outputs: [{ urls: many }] })));
    const { sizes, ids } = await pagesOf({ status: null, limit: 5 });
    expect([sizes, ids.length]).toEqual([[3, 3, 1], 7]);
  });
});
