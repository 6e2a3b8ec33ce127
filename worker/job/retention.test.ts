import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { findJob } from "../db/jobs/jobs.ts";
import type { Delivery } from "../notify/delivery.ts";
import { jobOf } from "../rpc/job.ts";
import { settingsOf } from "../settings.ts";
import { basic, checkedJob, jobBody, newSpec, PROBE, SECRET_KEY, useAccount } from "../testing/jobs.ts";
import { deletedMetadataResponses, purgedJobResponses } from "../testing/purged-job-responses.ts";
import { rewriteState } from "../testing/stored-state.ts";
import { inspectSource } from "../testing/turns.ts";
import { CHECK_AFTER_MS, pendingEffects } from "./effects/job-effects.ts";
import { runEffect } from "./effects/run-effect.ts";
import { type KeptMetadata, keptMetadata, unpackMetadata } from "./persistence/kept-metadata.ts";
import type { JobState } from "./state/job-state.ts";

const DAY_MS = 24 * 60 * 60_000;

const account = useAccount();
const ask = (method: string, path: string, body?: unknown) => account.request(method, path, body);

const purgeAt = (state: JobState, retentionMs = DAY_MS): number | undefined =>
  pendingEffects(state, retentionMs).find(({ name }) => name === "purge")?.dueAt;

describe("RETENTION_DAYS", () => {
  it.each([
    [undefined, 7],
    ["1", 1],
    ["30", 30],
  ])("%s keeps an ended job for %i days", async (set, days) => {
    const { retentionMs } = settingsOf({ ...env, ...(set === undefined ? {} : { RETENTION_DAYS: set }) });
    const ended: JobState = { ...checkedJob(await newSpec()), status: "job.completed", completedAt: 1000 };
    expect(purgeAt(ended, retentionMs)).toBe(1000 + days * DAY_MS);
  });

  it.each(["0", "0.5", "366", "a week", ""])("rejects %j, and names the variable", (set) => {
    expect(() => settingsOf({ ...env, RETENTION_DAYS: set })).toThrow(/settings are not valid: .*\n.*RETENTION_DAYS/);
  });
});

describe("a job that has ended", () => {
  it("is purged after its storage is cleared (or a day) and its client is notified (or four days)", async () => {
    const spec = await newSpec({ storage: { service: "coconut" } });
    const ended: JobState = { ...checkedJob(spec), status: "job.completed", completedAt: 0 };
    expect(purgeAt(ended)).toBe(2 * DAY_MS);
    const cleared = { ...ended, storageCleared: true };
    expect(purgeAt(cleared)).toBe(DAY_MS);
    expect(purgeAt({ ...cleared, scratch: { ...ended.scratch, leftovers: [0] } })).toBe(2 * DAY_MS);
    const delivery: Delivery = {
      id: "msg_1",
      event: "job.completed",
      body: "{}",
      createdAt: 0,
      lastResult: null,
      nextAt: 3 * DAY_MS,
      attempts: 9,
      earlierAttempts: 0,
      state: "due",
    };
    const owing = { ...cleared, outbox: [delivery] };
    expect([purgeAt(owing), purgeAt(owing, 30 * DAY_MS)]).toEqual([4 * DAY_MS, 30 * DAY_MS]);
    expect(purgeAt({ ...cleared, outbox: [{ ...delivery, state: "delivered" }] })).toBe(DAY_MS);
    // Otherwise its row would stay outdated forever.
    expect(purgeAt({ ...cleared, version: 2 })).toBeUndefined();
  });

  it("is checked after its purge is due", async () => {
    const spec = await newSpec();
    const now = 1000;
    const emitted = { status: "0 job.completed", notifications: 0, replayedAt: 0 };
    const ended = { status: "job.completed", completedAt: now, version: 2, tasks: [], emitted } as const;
    let state: JobState = { ...checkedJob(spec), ...ended, tasks: [] };
    const apply = (change: (before: JobState) => JobState) => {
      state = change(state);
    };
    const deps = { env, state: () => state, apply, note: apply, now: () => now, purge: async () => {} };
    await runEffect({ kind: "index" }, deps);
    const row = await findJob(env.DB, spec.accountId, spec.id);
    expect([row?.status, row?.checkAt]).toEqual(["job.completed", now + 7 * DAY_MS + CHECK_AFTER_MS]);
  });
});

describe("a job whose retention is over", () => {
  const bucket = env.STORAGE as R2Bucket;
  const input = { url: `https://user:${SECRET_KEY}@media.example.com/video.mp4?signature=${SECRET_KEY}` };

  /** A job that was aborted and forgotten after this many days, with its last responses before that. */
  async function forgotten({ days = 7, inspected = false } = {}) {
    const notification = { type: "http", url: `http://127.0.0.1:9/?token=${SECRET_KEY}`, events: true };
    const outputs = { "mp4:240p": { path: "a.mp4" } };
    const storage = { service: "coconut" };
    const { body } = await ask("POST", "/v2/jobs", jobBody({ input, outputs, storage, notification }));
    const id: string = body.id;
    const job = jobOf(env, id);
    if (inspected) {
      await inspectSource(job);
    }
    await ask("DELETE", `/v2/jobs/${id}`);
    await vi.waitFor(async () => expect((await findJob(env.DB, account.id, id))?.status).toBe("job.aborted"));
    await bucket.put(`${id}/a.mp4`, "x");
    const { body: last } = await ask("GET", `/v2/jobs/${id}`);
    const { body: metadata } = await ask("GET", `/v2/metadata/jobs/${id}`);
    const completedAt = Date.now() - days * DAY_MS;
    await rewriteState(job, (state) => ({ ...state, completedAt }));
    await runDurableObjectAlarm(job);
    return { id, last, metadata };
  }

  it("leaves nothing but its row if it has no metadata", async () => {
    const { id } = await forgotten();
    const left = await runInDurableObject(jobOf(env, id), async (_, { storage }) => [
      [...storage.kv.list()].length,
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([0, null]);
    expect((await bucket.list({ prefix: id })).objects).toEqual([]);
    const row = await findJob(env.DB, account.id, id);
    expect(row).toMatchObject({ status: "job.aborted", checkAt: null });
    expect(JSON.stringify(row)).not.toMatch(new RegExp(`${SECRET_KEY}|s1\\.t1\\.`));
  });

  it("is represented by its row on every route, without internal errors", async () => {
    const { id, last } = await forgotten();
    expect(await ask("GET", `/v2/jobs/${id}`)).toMatchObject({ status: 200, body: last });
    expect((await ask("GET", "/v2/jobs?limit=1")).body.jobs).toEqual([last]);
    const followed = new Request(`https://copra.test/v2/jobs/${id}/events`, { headers: basic(account.key) });
    expect(await (await exports.default.fetch(followed)).text()).toContain("event: end");
    for (const [method, path, code, errorCode, message] of [
      ...purgedJobResponses(id),
      ...deletedMetadataResponses(id),
    ]) {
      const { status, body } = await ask(method, `/v2${path}`);
      expect([status, body.error_code], path).toEqual([code, errorCode]);
      expect(body.message).toMatch(message);
    }
  });

  it("keeps its metadata as long as its row, in a single entry and without secrets", async () => {
    const { id, metadata } = await forgotten({ inspected: true });
    expect(metadata.metadata.input.streams).toHaveLength(2);
    expect(await ask("GET", `/v2/metadata/jobs/${id}`)).toMatchObject({ status: 200, body: metadata });
    const { input: source } = metadata.metadata;
    expect((await ask("GET", `/v2/metadata/jobs/${id}/source`)).body).toEqual({ job_id: id, metadata: { source } });
    expect((await ask("GET", `/v2/metadata/jobs/${id}/mp4:240p`)).body.error_code).toBe("metadata_not_found");
    for (const [method, path, code] of purgedJobResponses(id))
      expect((await ask(method, `/v2${path}`)).status).toBe(code);
    const [entries, alarm, text] = await runInDurableObject(jobOf(env, id), async (_, { storage }) => {
      const [[, kept] = []] = [...storage.kv.list<KeptMetadata>()];
      const json = kept ? JSON.stringify(unpackMetadata(kept)) : "";
      return [[...storage.kv.list()].length, await storage.getAlarm(), json] as const;
    });
    expect([entries, text.includes(SECRET_KEY)]).toEqual([1, false]);
    const until = (alarm ?? 0) - Date.now();
    expect([until > 22 * DAY_MS, until < 23.1 * DAY_MS]).toEqual([true, true]);
  });

  it("forgets its metadata when its row is deleted", async () => {
    const { id } = await forgotten({ inspected: true });
    await runInDurableObject(jobOf(env, id), (_, { storage }) => {
      const [[name, kept] = []] = [...storage.kv.list<KeptMetadata>()];
      if (name && kept) storage.kv.put(name, { ...kept, until: Date.now() - 1 });
    });
    await runDurableObjectAlarm(jobOf(env, id));
    const left = await runInDurableObject(jobOf(env, id), async (_, { storage }) => [
      [...storage.kv.list()].length,
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([0, null]);
    expect((await forgotten({ days: 31, inspected: true })).metadata.metadata.input.streams).toHaveLength(2);
  });

  it("keeps metadata of thirty outputs in a few kilobytes", async () => {
    const outputs = { "mp4:240p": Array.from({ length: 30 }, (_, at) => ({ path: `${at}.mp4` })) };
    const spec = await newSpec({ outputs });
    const madeOutput = { ...checkedJob(spec).outputs[0], phase: "done", probe: PROBE } as JobState["outputs"][number];
    const ended: JobState = {
      ...checkedJob(spec),
      status: "job.completed",
      completedAt: 0,
      outputs: spec.outputs.map(() => madeOutput),
      input: { status: "input.transferred", failure: null, probe: PROBE },
    };
    const metadata = keptMetadata(ended, DAY_MS, 0);
    expect(metadata?.packed.byteLength).toBeLessThan(4096);
    expect(metadata && unpackMetadata(metadata).outputs).toHaveLength(30);
    expect(keptMetadata(ended, DAY_MS, DAY_MS)).toBeNull();
  });
});
