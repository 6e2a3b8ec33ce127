import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { measuredDatabase, planOf } from "../testing/measured-database.ts";
import { deleteExpired } from "./expired-rows.ts";
import { endLostJob, findJob, type JobRow, scheduleChecks, upsertJob } from "./jobs.ts";
import { addUsage, type JobUsage, sumUsage, usageByDay, usageQueries, usageSince, usageText } from "./usage.ts";
import { DAY_MS, dayOf } from "./usage-day.ts";

beforeEach(() => env.DB.batch(["jobs", "usage_days"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))));

const NOW = Date.UTC(2026, 10, 22, 12);
const TODAY = dayOf(NOW);
const COMPLETED: JobUsage = { ...sumUsage([]), completed: 1, hdMs: 60_500, nodeMs: 20_001, storedBytes: 7e9 };
const FAILED: JobUsage = { ...sumUsage([]), failed: 1, nodeMs: 5 };

const row = (id: string, used: JobUsage | null, changes: Partial<JobRow> = {}): JobRow => ({
  id: id.padEnd(14, "0"),
  accountId: "acc",
  status: used ? "job.completed" : "job.starting",
  version: 2,
  createdAt: NOW - 1000,
  completedAt: used && NOW,
  view: "{}",
  checkAt: 1,
  search: null,
  usage: used && usageText(used),
  tags: null,
  ...changes,
});
const stored = async (...rows: JobRow[]): Promise<void> => {
  for (const one of rows) await upsertJob(env.DB, one);
};
const check = (at: number | null, ...rows: JobRow[]) =>
  scheduleChecks(
    env.DB,
    rows.map(({ id, tags }) => ({ id, checkAt: at, tags })),
  );
const used = (from = TODAY - 29, accountId = "acc") => usageByDay(env.DB, accountId, { from, to: TODAY, now: NOW });
const today = (...all: JobUsage[]) => [{ day: TODAY, ...sumUsage(all) }];

describe("the usage of an account", () => {
  it("counts each job once: before and after the sweeper's checks, and when its row is written again", async () => {
    const [one, two] = [row("A", COMPLETED), row("B", FAILED, { status: "job.failed" })];
    await stored(one, two, row("C", null), row("D", COMPLETED, { accountId: "other" }));
    const expected = today(COMPLETED, FAILED);
    expect(await used()).toEqual(expected);
    await check(2, one);
    expect(await used()).toEqual(expected);
    for (const at of [3, 4, null]) await check(at, one, two);
    expect(await used()).toEqual(expected);
    await stored(one, two);
    expect(await used()).toEqual(expected);
    await check(null, one, two);
    expect(await used()).toEqual(expected);
  });

  it("counts jobs on the days of their ends, and keeps the usage when rows are deleted", async () => {
    const ago = (days: number) => ({ createdAt: NOW - days * DAY_MS - 1000, completedAt: NOW - days * DAY_MS });
    const rows = [row("A", COMPLETED, ago(3)), row("B", COMPLETED, ago(2)), row("C", FAILED, ago(2))];
    await stored(...rows);
    const days = [
      { day: TODAY - 3, ...COMPLETED },
      { day: TODAY - 2, ...sumUsage([COMPLETED, FAILED]) },
    ];
    expect(await used()).toEqual(days);
    await check(null, ...rows);
    await deleteExpired(env.DB, "jobs", NOW, { maxPortions: 9, maxMs: 9e9 });
    expect(await findJob(env.DB, "acc", rows[0]?.id ?? "")).toBeNull();
    expect(await used()).toEqual(days);
    expect(await used(TODAY - 2)).toEqual(days.slice(1));
    expect(await used(TODAY - 29, "other")).toEqual([]);
    expect(await usageSince(env.DB, TODAY - 3)).toEqual(sumUsage(days));
    expect(await usageSince(env.DB, TODAY)).toEqual(sumUsage([]));
  });

  it.each([true, false])("adds only the new usage of a retried job (checked before: %s)", async (isChecked) => {
    const first = row("A", FAILED, { status: "job.failed", completedAt: NOW - DAY_MS });
    await stored(first);
    if (isChecked) await check(2, first);
    await stored({ ...first, status: "job.starting", completedAt: null, version: 3 });
    await check(3, first);
    const ended = isChecked ? [{ day: TODAY - 1, ...FAILED }] : [];
    expect(await used()).toEqual(ended);
    const all = sumUsage([COMPLETED, FAILED]);
    const second = row("A", all, { version: 4 });
    await stored(second);
    const expected = isChecked ? [...ended, { day: TODAY, ...COMPLETED }] : today(all);
    expect(await used()).toEqual(expected);
    await check(null, second);
    expect(await used()).toEqual(expected);
  });

  it("counts a lost job as failed", async () => {
    const lost = row("A", null);
    await stored(lost);
    await endLostJob(env.DB, lost, { status: "job.failed", completedAt: NOW, view: "{}" });
    expect(await used()).toEqual(today({ ...sumUsage([]), failed: 1 }));
    const { results } = await env.DB.prepare("SELECT day, failed FROM usage_days").all();
    expect(results).toEqual([{ day: TODAY, failed: 1 }]);
  });

  it("keeps the usage of a job that ended, was retried and was lost", async () => {
    await stored(row("A", COMPLETED));
    await check(2, row("A", COMPLETED));
    const retried = row("A", null, { version: 3 });
    await stored(retried);
    await endLostJob(env.DB, { ...retried, checkAt: 1 }, { status: "job.failed", completedAt: NOW, view: "{}" });
    expect((await findJob(env.DB, "acc", retried.id))?.status).toBe("job.failed");
    expect(await used()).toEqual(today(COMPLETED));
  });

  it("costs a single row for all jobs of a day, and no row once they are added", async () => {
    const rows = Array.from({ length: 50 }, (_, at) => row(`A${10 + at}`, COMPLETED, { checkAt: null }));
    await stored(...rows);
    const written: number[] = [];
    for (let round = 0; round < 2; round++) {
      const { db, work } = measuredDatabase(env.DB);
      await scheduleChecks(
        db,
        rows.map(({ id }) => ({ id, checkAt: null, tags: null })),
      );
      written.push(work.rowsWritten);
    }
    expect(written).toEqual([101, 100]);
  });

  it("reads only the account's newest jobs for usage that is not added yet", async () => {
    const rows = Array.from({ length: 20 }, (_, at) => row(`A${10 + at}`, COMPLETED, { accountId: "other" }));
    await stored(...rows, row("B", COMPLETED), row("C", COMPLETED, { createdAt: NOW - 30 * DAY_MS }));
    const { db, work } = measuredDatabase(env.DB);
    await usageByDay(db, "acc", { from: TODAY - 365, to: TODAY, now: NOW });
    expect([work.calls, work.rowsWritten]).toEqual([1, 0]);
    // The days of the list, and a row with its entry in the index.
    expect(work.rowsRead).toBeLessThan(366 + 10);
    const [counted, uncounted] = usageQueries("acc", { from: TODAY - 365, to: TODAY, now: NOW });
    expect(await planOf(counted)).toContain("SEARCH one USING PRIMARY KEY (day=? AND account_id=?)");
    const search = "SEARCH jobs USING INDEX jobs_by_status (account_id=? AND status=? AND created_at>?)";
    expect((await planOf(uncounted)).filter((step) => /jobs|TEMP B-TREE FOR ORDER/.test(step))).toEqual([
      search,
      search,
      search,
    ]);
    expect(await planOf(addUsage(["A"]))).toContain("SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)");
  });
});
