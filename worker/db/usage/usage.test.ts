import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { measuredDatabase, planOf } from "../../testing/measured-database.ts";
import { deleteExpired } from "../expired-rows.ts";
import { endLostJob, findJob, type JobRow, upsertJob } from "../jobs/jobs.ts";
import { addUsage, type JobUsage, sumUsage, usageByDay, usageQuery, usageSince, usageText } from "./usage.ts";
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
const used = (from = TODAY - 29, accountId = "acc") => usageByDay(env.DB, accountId, { from, to: TODAY });
const today = (...all: JobUsage[]) => [{ day: TODAY, ...sumUsage(all) }];

describe("the usage of an account", () => {
  it("counts each job once when it ends, also when its row is written again", async () => {
    const [one, two] = [row("A", COMPLETED), row("B", FAILED, { status: "job.failed" })];
    const rows = [one, two, row("C", null), row("D", COMPLETED, { accountId: "other" })];
    const expected = today(COMPLETED, FAILED);
    for (let round = 0; round < 2; round++) {
      await stored(...rows);
      expect(await used()).toEqual(expected);
    }
    await stored({ ...one, version: 3 }, { ...two, version: 1, usage: usageText(COMPLETED) });
    expect(await used()).toEqual(expected);
    const longer = { ...COMPLETED, nodeMs: 30_000 };
    for (let round = 0; round < 2; round++) await stored(row("A", longer, { version: 4 }), one);
    expect(await used()).toEqual(today(longer, FAILED));
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
    await env.DB.prepare("UPDATE jobs SET check_at = NULL").run();
    await deleteExpired(env.DB, "jobs", NOW, { maxPortions: 9, maxMs: 9e9 });
    expect(await findJob(env.DB, "acc", rows[0]?.id ?? "")).toBeNull();
    expect(await used()).toEqual(days);
    expect(await used(TODAY - 2)).toEqual(days.slice(1));
    expect(await used(TODAY - 29, "other")).toEqual([]);
    expect(await usageSince(env.DB, TODAY - 3)).toEqual(sumUsage(days));
    expect(await usageSince(env.DB, TODAY)).toEqual(sumUsage([]));
  });

  it("adds only the new usage of a retried job, on the day of its second end", async () => {
    const first = row("A", FAILED, { status: "job.failed", completedAt: NOW - DAY_MS });
    await stored(first, row("A", null, { version: 3 }));
    const ended = [{ day: TODAY - 1, ...FAILED }];
    expect(await used()).toEqual(ended);
    await stored(row("A", sumUsage([COMPLETED, FAILED]), { version: 4 }), first);
    expect(await used()).toEqual([...ended, { day: TODAY, ...COMPLETED }]);
  });

  it("counts a lost job as failed", async () => {
    const lost = row("A", null);
    await stored(lost);
    for (let round = 0; round < 2; round++) {
      await endLostJob(env.DB, lost, { status: "job.failed", completedAt: NOW, view: "{}" });
      expect(await used()).toEqual(today({ ...sumUsage([]), failed: 1 }));
    }
  });

  it("keeps the usage of a job that ended, was retried and was lost", async () => {
    await stored(row("A", COMPLETED));
    const retried = row("A", null, { version: 3 });
    await stored(retried);
    await endLostJob(env.DB, { ...retried, checkAt: 1 }, { status: "job.failed", completedAt: NOW, view: "{}" });
    expect((await findJob(env.DB, "acc", retried.id))?.status).toBe("job.failed");
    expect(await used()).toEqual(today(COMPLETED));
  });

  it("costs a row for each end of a job, and none when the row is written again", async () => {
    const written = async (one: JobRow): Promise<number> => {
      const { db, work } = measuredDatabase(env.DB);
      await upsertJob(db, one);
      return work.rowsWritten;
    };
    const ended = row("A", COMPLETED);
    await stored(ended);
    const again = await written(ended);
    expect(await written(row("A", FAILED, { version: 3 }))).toBe(again + 1);
  });

  it("searches days and the job by their keys", async () => {
    const query = usageQuery("acc", { from: TODAY - 365, to: TODAY });
    expect(await planOf(query)).toContain("SEARCH one USING PRIMARY KEY (day=? AND account_id=?)");
    const ended = { id: "A", accountId: "acc", completedAt: NOW, usage: usageText(COMPLETED) };
    const search = "SEARCH stored USING INDEX sqlite_autoindex_jobs_1 (id=?) LEFT-JOIN";
    expect(await planOf(addUsage(ended, sql`true`))).toContain(search);
  });
});
