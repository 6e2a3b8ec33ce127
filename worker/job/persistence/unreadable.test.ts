import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { findJob } from "../../db/jobs/jobs.ts";
import { jobOf } from "../../rpc/job.ts";
import { bearer, newNodeToken, newSpec, PROBE, send } from "../../testing/jobs.ts";
import storedJob from "../../testing/stored-job.json" with { type: "json" };
import { claimOne, inspectSource } from "../../testing/turns.ts";
import { JobMemory } from "./job-memory.ts";
import { unpacked } from "./job-store.ts";
import { judgeUnreadable } from "./unreadable.ts";

const HOUR_MS = 60 * 60_000;

/** Changes the entries in an object's storage, as another version of the service might have written them. */
async function rewrite(id: string, change: (kv: SyncKvStorage) => void): Promise<void> {
  // Running effects would overwrite it.
  await evictDurableObject(jobOf(env, id)).catch(() => {});
  await runInDurableObject(jobOf(env, id), (_, { storage }) => change(storage.kv));
  await evictDurableObject(jobOf(env, id));
}

const entriesOf = (id: string): Promise<Map<string, unknown>> =>
  runInDurableObject(jobOf(env, id), (_, { storage }) => new Map(storage.kv.list()));
const alarmOf = (id: string): Promise<number | null> =>
  runInDurableObject(jobOf(env, id), (_, { storage }) => storage.getAlarm());

/** A job with two outputs: the first is done, a node works on the second. */
async function halfDone(): Promise<{ id: string; accountId: string; lease: string; token: string }> {
  const spec = await newSpec({
    outputs: { "mp4:240p": { path: "a.mp4" }, "mp4:360p": { path: "b.mp4" } },
    notification: { type: "http", url: "http://127.0.0.1:9/", events: true },
  });
  const job = jobOf(env, spec.id);
  await job.create(spec);
  await inspectSource(job);
  const encode = await claimOne(job, "encode");
  await rewrite(spec.id, (kv) => {
    // Each section has an entry of its own, like the sections of large jobs.
    for (const [key, entry] of unpacked(new Map(kv.list()))) kv.put(key, entry);
    const [first, second] = kv.get("outputs") as object[];
    kv.put("outputs", [{ ...first, phase: "done", files: [{ sizeBytes: 1 }], probe: PROBE }, second]);
  });
  return { id: spec.id, accountId: spec.accountId, lease: encode.lease, token: encode.token };
}

const breakTasks = (kv: SyncKvStorage): void => kv.put("tasks", [{ id: "of an unknown version" }]);
const longAgo = (kv: SyncKvStorage): void => kv.put("unreadable-since", Date.now() - HOUR_MS);

/** Entries of a job whose outputs are being encoded. Create them again when the stored state changes incompatibly. */
const STORED: Record<string, unknown> = storedJob;

describe("a job that was stored earlier", () => {
  it("continues to its end", async () => {
    const { id } = storedJob.spec;
    await rewrite(id, (kv) => {
      for (const [key, value] of Object.entries(STORED)) kv.put(key, value);
    });
    const job = jobOf(env, id);
    // The lease expired long ago. This call sets an alarm that ends it.
    await job.check(1);
    const { lease, token } = await vi.waitFor(async () => {
      const assignment = await claimOne(job, "encode", "node-b");
      return assignment;
    });
    const files = [1, 2].map((file) => ({ output: 1, file, sizeBytes: 9 }));
    await job.uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 9 }, ...files] });
    const outputs = [
      { status: "made", output: 0, files: [{ output: 0, file: 1, sizeBytes: 9, etags: ["e"] }], probe: PROBE },
      { status: "made", output: 1, files: files.map((file) => ({ ...file, etags: ["e"] })), probe: null },
    ];
    const result = { kind: "encode", outputs } as unknown as Parameters<typeof job.complete>[1]["result"];
    expect(await job.complete(lease, { token, result })).toEqual({ ok: true, value: null });
    await vi.waitFor(async () =>
      expect(await findJob(env.DB, "account", id)).toMatchObject({ status: "job.completed" }),
    );
    expect((await job.notifications()).ok).toBe(true);
  });
});

describe("a job whose stored state cannot be read", () => {
  it("is retried later, also by nodes, and continues when its state becomes readable", async () => {
    const { id, lease, token } = await halfDone();
    const tasks = (await entriesOf(id)).get("tasks");
    await rewrite(id, breakTasks);
    const fail = (headers: Record<string, string>) =>
      send(`/v2/nodes/leases/${lease}/fail`, {
        method: "POST",
        headers,
        body: { token, failure: { code: "node_failed", message: "It broke" } },
      });
    const node = bearer(await newNodeToken());
    expect(await fail(node)).toMatchObject({ status: 503, body: { error_code: "service_unavailable" } });
    await runDurableObjectAlarm(jobOf(env, id));
    expect(await alarmOf(id)).toBeGreaterThan(Date.now() + 60_000);
    expect((await entriesOf(id)).get("tasks")).toEqual([{ id: "of an unknown version" }]);
    await rewrite(id, (kv) => kv.put("tasks", tasks));
    expect((await fail(node)).status).toBe(200);
    expect((await entriesOf(id)).has("unreadable-since")).toBe(false);
  });

  it("fails after an hour, keeps its finished outputs, and notifies its client", async () => {
    const { id, accountId } = await halfDone();
    await rewrite(id, breakTasks);
    await rewrite(id, longAgo);
    await runDurableObjectAlarm(jobOf(env, id));
    const LOST_JOB = { error_code: "internal_error", error: expect.stringMatching(/create it again/) };
    const outputs = [
      { status: "video.encoded", url: "http://127.0.0.1:9/bucket/a.mp4" },
      { status: "video.failed", ...LOST_JOB },
    ];
    expect(await jobOf(env, id).view()).toMatchObject({ ok: true, value: { status: "job.failed", outputs } });
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(jobOf(env, id));
      expect((await findJob(env.DB, accountId, id))?.status).toBe("job.failed");
    });
    const log = await jobOf(env, id).notifications();
    expect(log.ok && log.value.map((delivery) => [delivery.id, delivery.event])).toEqual([
      [`msg_${id}_1`, "input.transferred"],
      [`msg_${id}_2`, "output.failed"],
      [`msg_${id}_3`, "job.failed"],
    ]);
    await evictDurableObject(jobOf(env, id));
    expect((await jobOf(env, id).view()).ok).toBe(true);
  });

  it("continues at once if only the read had failed", async () => {
    const { id } = await halfDone();
    await runInDurableObject(jobOf(env, id), async (_, { storage }) => {
      const tasks = storage.kv.get("tasks");
      breakTasks(storage.kv);
      let changes = 0;
      const memory = new JobMemory(storage, () => changes++);
      expect((await memory.handleUnreadable(Date.now(), HOUR_MS)).waitMs).toBeGreaterThan(0);
      storage.kv.put("tasks", tasks);
      expect(await memory.handleUnreadable(Date.now() + 2 * HOUR_MS, HOUR_MS)).toEqual({ waitMs: null, reason: null });
      expect([memory.isUnreadable, memory.live().status, changes]).toEqual([false, "job.starting", 1]);
      expect(storage.kv.get("unreadable-since")).toBeUndefined();
    });
  });

  it("aborts its multipart uploads when it fails", async () => {
    const { id } = await halfDone();
    const stored = await entriesOf(id);
    const [inspect, encode] = stored.get("tasks") as object[];
    const upload = (output: number, uploadId: string) => {
      return { output, objectName: output === 0 ? "a.mp4" : "b.mp4", sizeBytes: 9, partCount: 2, uploadId };
    };
    const uploads = { "0/1": upload(0, "u-made"), "1/1": upload(1, "u-1") };
    stored.set("tasks", [inspect, { ...encode, uploads }, {}]);
    const orphans = [{ objectName: "c.mp4", uploadId: "u-0" }, { uploadId: 1 }];
    stored.set("rest", { ...(stored.get("rest") as object), orphans });
    const verdict = judgeUnreadable(stored, { since: 0, now: Date.now(), retentionMs: HOUR_MS });
    expect(verdict).toMatchObject({
      do: "end",
      state: {
        status: "job.failed",
        orphans: [
          { objectName: "c.mp4", uploadId: "u-0" },
          { objectName: "b.mp4", uploadId: "u-1" },
        ],
      },
    });
  });

  it.each([
    ["has no readable specification is forgotten after an hour", null, HOUR_MS, true],
    ["has ended is kept as long as others", Date.now() - 6 * 24 * HOUR_MS, 2 * HOUR_MS, false],
    ["has ended is forgotten when others are", Date.now() - 7 * 24 * HOUR_MS, 0, true],
  ])("an unreadable job that %s", async (_, completedAt, sinceMs, isForgotten) => {
    const { id } = await halfDone();
    await rewrite(id, (kv) => {
      kv.put("spec", { id: "?" });
      kv.put("rest", { ...(kv.get("rest") as object), completedAt });
      kv.put("unreadable-since", Date.now() - sinceMs);
    });
    await runDurableObjectAlarm(jobOf(env, id));
    expect((await entriesOf(id)).size === 0).toBe(isForgotten);
    expect((await alarmOf(id)) === null).toBe(isForgotten);
  });
});
