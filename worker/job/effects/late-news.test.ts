// When the account and the lists learn about the changes of a job.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { findJob } from "../../db/jobs/jobs.ts";
import { accountOf } from "../../rpc/account.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, PROBE, send } from "../../testing/jobs.ts";
import { claimFrom } from "../../testing/turns.ts";

/** The kinds of an account's events, for each stored entry. */
const entriesOf = (account: string): Promise<string[][]> =>
  runInDurableObject(accountOf(env, account), (_, { storage }) =>
    [...storage.kv.list<{ kind: string }[]>({ prefix: "event:" })].map(([, events]) => events.map(({ kind }) => kind)),
  );

async function inspectedJob({ key }: { key: string }): Promise<string> {
  const { body } = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: basic(key) });
  const job = jobOf(env, body.id);
  const [inspect] = await claimFrom(job, { nodeId: "n", session: "s", slotClass: "inspect", max: 1 });
  if (!inspect) throw new Error("Nothing to inspect");
  await job.complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
  return body.id;
}

const statusInList = async (account: string, id: string): Promise<string> =>
  JSON.parse((await findJob(env.DB, account, id))?.view ?? "{}").input.status;

it("reports changes of a job with its next alarm, and its end at once", async () => {
  const account = await newAccount();
  const id = await inspectedJob(account);
  expect([await entriesOf(account.id), await statusInList(account.id, id)]).toEqual([[], "input.starting"]);
  const dueMs = await runInDurableObject(jobOf(env, id), async (_, { storage }) => (await storage.getAlarm()) ?? 0);
  expect(dueMs).toBeLessThanOrEqual(Date.now() + 30_000);
  await runDurableObjectAlarm(jobOf(env, id));
  expect([await entriesOf(account.id), await statusInList(account.id, id)]).toEqual([[["job"]], "input.transferred"]);
  await jobOf(env, id).cancel();
  await vi.waitFor(async () => expect(await entriesOf(account.id)).toEqual([["job"], ["job"]]));
});

it("reports changes of a job at once while somebody listens", async () => {
  const account = await newAccount();
  const headers = basic(account.key);
  const stream = await exports.default.fetch(new Request("https://copra.test/v2/events", { headers }));
  const id = await inspectedJob(account);
  await vi.waitFor(async () => {
    expect([await entriesOf(account.id), await statusInList(account.id, id)]).toEqual([[["job"]], "input.transferred"]);
  });
  await stream.body?.cancel();
});
