import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { sumUsage, usageText } from "../usage/usage.ts";
import { claimKeys } from "./idempotency.ts";
import { endLostJob, findJob, type JobRow, scheduleChecks, updateJob, upsertJob } from "./jobs.ts";

const ID = "AAAAAAAAAAAAA1";
const STARTED: JobRow = {
  id: ID,
  accountId: "acc",
  status: "job.starting",
  version: 1,
  createdAt: 10,
  completedAt: null,
  view: "{}",
  checkAt: 20,
  search: "a",
  usage: null,
  tags: null,
};
const ENDED: JobRow = { ...STARTED, status: "job.completed", version: 9, completedAt: 30, checkAt: 40 };
const OWNED = { accountId: "acc", key: "k" };
const request = (jobId: string, createdAt = 10) => ({ ...OWNED, bodyDigest: jobId, jobId, createdAt });

/** The number of rows that D1 writes for a step, and the number of round trips. */
async function cost(step: (db: D1Database) => Promise<unknown>): Promise<[rowsWritten: number, calls: number]> {
  const { db, work } = measuredDatabase(env.DB);
  await step(db);
  return [work.rowsWritten, work.calls];
}

it("a job costs 15 written rows: a row for each update while it runs, two for the orders of lists, one for its usage and its age each, and two for its key", async () => {
  await env.DB.prepare("DELETE FROM jobs").run();
  const usage = usageText(sumUsage([]));
  // A row each in the table, its key, the list and the index of checks.
  expect(await cost((db) => upsertJob(db, STARTED))).toEqual([4, 1]);
  expect(await cost((db) => updateJob(db, { ...STARTED, version: 2, view: '{"a":1}' }))).toEqual([1, 1]);
  expect(await cost((db) => updateJob(db, { ...ENDED, tookMs: 20, usage }))).toEqual([6, 1]);
  expect(await cost((db) => scheduleChecks(db, [{ id: ID, checkAt: null }]))).toEqual([2, 1]);
  await env.DB.prepare("DELETE FROM jobs").run();
  expect(await cost((db) => claimKeys(db, [{ request: request(ID), job: STARTED }]))).toEqual([6, 1]);
});

it("an update of a running job writes changes, and never an older version", async () => {
  await upsertJob(env.DB, STARTED);
  const row = async () => await findJob(env.DB, "acc", ID);
  await updateJob(env.DB, { ...STARTED, version: 3, view: '{"a":3}', checkAt: 99 });
  expect(await row()).toEqual({ ...STARTED, version: 3, view: '{"a":3}' });
  await updateJob(env.DB, { ...STARTED, version: 2 });
  expect(await row()).toMatchObject({ version: 3 });
  await updateJob(env.DB, ENDED);
  await updateJob(env.DB, { ...STARTED, version: 8 });
  expect(await row()).toEqual(ENDED);
  // The job was restarted, and its row was not updated yet.
  await updateJob(env.DB, { ...STARTED, version: 10 });
  expect(await row()).toEqual({ ...STARTED, version: 10 });
  await env.DB.prepare("DELETE FROM jobs").run();
  await updateJob(env.DB, { ...STARTED, version: 11 });
  expect(await row()).toEqual({ ...STARTED, version: 11 });
});

it("a key stores its job once, and is free again when it expires or its job is lost", async () => {
  await env.DB.batch(["jobs", "idempotency_keys"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  const other = "AAAAAAAAAAAAA2";
  const claim = async (id: string, at = 10) =>
    (await claimKeys(env.DB, [{ request: request(id, at), job: { ...STARTED, id } }])).get("k")?.jobId;
  const ids = async () =>
    (await env.DB.prepare("SELECT id FROM jobs ORDER BY id").all<{ id: string }>()).results.map(({ id }) => id);
  expect([await claim(ID), await claim(other), await ids()]).toEqual([ID, ID, [ID]]);
  await endLostJob(env.DB, STARTED, { status: "job.failed", completedAt: 30, view: "{}" });
  expect([await claim(other), await ids()]).toEqual([other, [ID, other]]);
  const day = 24 * 60 * 60_000;
  expect([await claim("AAAAAAAAAAAAA3", 10 + day), await claim("AAAAAAAAAAAAA3", 11 + day)]).toEqual([
    other,
    "AAAAAAAAAAAAA3",
  ]);
});
