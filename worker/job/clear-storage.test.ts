import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../bindings.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { BUILTIN_RETENTION_MS } from "../storage/builtin/builtin-objects.ts";
import { newSpec } from "../testing/jobs.ts";
import { loadState, rewriteState } from "../testing/stored-state.ts";
import type { JobState } from "./state/job-state.ts";

const bucket = (env as Env).STORAGE as R2Bucket;
const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const keysOf = async (spec: JobSpec): Promise<string[]> =>
  (await bucket.list({ prefix: spec.id })).objects.map(({ key }) => key);
const stateOf = (spec: JobSpec): Promise<JobState | null> =>
  runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));

/** A job that was cancelled this long ago, with these objects in the service's own storage. */
async function cancelled(agoMs: number, objects: readonly string[]): Promise<JobSpec> {
  const spec = await newSpec({ storage: { service: "coconut" } });
  await stubOf(spec).create(spec);
  await stubOf(spec).cancel();
  await Promise.all(objects.map((path) => bucket.put(`${spec.id}/${path}`, "x")));
  const completedAt = Date.now() - agoMs;
  await rewriteState(stubOf(spec), (state) => ({ ...state, completedAt, outbox: [] }));
  return spec;
}

describe("the objects of a job in the service's own storage", () => {
  it("stay for a day after the job's end", async () => {
    const spec = await cancelled(BUILTIN_RETENTION_MS - 60_000, ["a.mp4"]);
    await runDurableObjectAlarm(stubOf(spec));
    expect(await keysOf(spec)).toEqual([`${spec.id}/a.mp4`]);
    const alarm = await runInDurableObject(stubOf(spec), (_, { storage }) => storage.getAlarm());
    expect(Math.abs((alarm ?? 0) - Date.now() - 60_000)).toBeLessThan(10_000);
  });

  it("are then removed once, whatever their number", async () => {
    const other = await cancelled(0, ["a.mp4"]);
    const spec = await cancelled(
      BUILTIN_RETENTION_MS,
      Array.from({ length: 1001 }, (_, n) => `x/${n}.jpg`),
    );
    await runDurableObjectAlarm(stubOf(spec));
    expect(await keysOf(spec)).toEqual([]);
    expect(await keysOf(other)).toHaveLength(1);
    expect((await stateOf(spec))?.storageCleared).toBe(true);
    await bucket.put(`${spec.id}/late.mp4`, "x");
    await runDurableObjectAlarm(stubOf(spec));
    expect(await keysOf(spec)).toHaveLength(1);
  });

  it("are removed permanently: the job cannot be retried", async () => {
    const spec = await cancelled(BUILTIN_RETENTION_MS, []);
    await runDurableObjectAlarm(stubOf(spec));
    expect(await stubOf(spec).retry()).toMatchObject({ ok: false, error: { code: "job_state_conflict" } });
  });
});
