import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { findJob } from "../db/jobs.ts";
import { jobOf } from "../env.ts";
import { newSpec, PROBE, SECRET_KEY } from "../test-jobs.ts";
import { type JobSpec, type JobState, RETENTION_MS } from "./job-state.ts";
import { loadState, saveState } from "./job-store.ts";

const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const stateOf = (spec: JobSpec): Promise<JobState | null> =>
  runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));

/** Changes what lies on disk, as if time had passed, and drops the object from memory. */
async function rewrite(spec: JobSpec, change: (state: JobState) => JobState): Promise<void> {
  await runInDurableObject(stubOf(spec), (_, { storage }) => {
    const state = loadState(storage);
    if (state) saveState(storage, state, change(state));
  });
  await evictDurableObject(stubOf(spec));
}

async function claim(spec: JobSpec, slotClass: "inspect" | "encode", nodeId = "node-a") {
  const [assignment] = await stubOf(spec).claim(nodeId, `s-${nodeId}`, slotClass, 1);
  if (!assignment) throw new Error(`Nothing to ${slotClass}`);
  return assignment as { lease: LeaseId; token: string };
}

async function inspected(changes: Record<string, unknown> = {}): Promise<JobSpec> {
  const spec = await newSpec(changes);
  await stubOf(spec).create(spec);
  const { lease, token } = await claim(spec, "inspect");
  await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
  return spec;
}

const VIDEO_ONLY = { outputs: { "mp4:240p": { path: "out/a b.mp4" } } };
const made = {
  kind: "encode",
  outputs: [
    { status: "made", output: 0, files: [{ output: 0, ordinal: 1, sizeBytes: 1000, etags: ['"e"'] }], probe: PROBE },
  ],
} as const;
const result = made as unknown as Parameters<ReturnType<typeof stubOf>["complete"]>[1]["result"];

describe("a job", () => {
  it("comes to its end although its object vanishes between any two steps", async () => {
    const spec = await newSpec(VIDEO_ONLY);
    const evict = () => evictDurableObject(stubOf(spec));
    await stubOf(spec).create(spec);
    await evict();
    const inspect = await claim(spec, "inspect");
    await evict();
    await stubOf(spec).progress([{ ...inspect, stage: "transferring", fraction: 0.5 }]);
    await evict();
    await stubOf(spec).complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
    await evict();
    const encode = await claim(spec, "encode");
    await evict();
    await stubOf(spec).uploads(encode.lease, {
      token: encode.token,
      files: [{ output: 0, ordinal: 1, sizeBytes: 1000 }],
    });
    await evict();
    expect(await stubOf(spec).complete(encode.lease, { token: encode.token, result })).toEqual({
      ok: true,
      value: null,
    });
    await evict();
    await runDurableObjectAlarm(stubOf(spec));
    expect(await stubOf(spec).view()).toMatchObject({
      ok: true,
      value: {
        status: "job.completed",
        outputs: [{ status: "video.encoded", url: "http://127.0.0.1:9/bucket/out/a%20b.mp4" }],
      },
    });
    expect((await stateOf(spec))?.outbox.map(({ event }) => event)).toEqual(["job.completed"]);
    expect(await findJob(env.DB, spec.accountId, spec.id)).toMatchObject({ status: "job.completed" });
  });

  it("is begun once", async () => {
    const spec = await inspected();
    await stubOf(spec).create(spec);
    expect((await stateOf(spec))?.input.status).toBe("input.transferred");
  });

  it("takes a report twice, and refuses one of a superseded lease", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const first = await claim(spec, "encode");
    await rewrite(spec, (state) => ({
      ...state,
      tasks: state.tasks.map((task) => ({ ...task, grant: task.grant && { ...task.grant, expiresAt: 1 } })),
    }));
    await runDurableObjectAlarm(stubOf(spec));
    expect((await stateOf(spec))?.tasks[1]).toMatchObject({ phase: "pending", losses: 1 });
    const second = await claim(spec, "encode", "node-b");
    const late = await stubOf(spec).complete(first.lease, { token: first.token, result });
    expect(late).toMatchObject({ ok: false, code: "lease_superseded" });
    expect(await stubOf(spec).renew([first, second])).toEqual([first.lease]);
    await stubOf(spec).uploads(second.lease, {
      token: second.token,
      files: [{ output: 0, ordinal: 1, sizeBytes: 1000 }],
    });
    for (let i = 0; i < 2; i++) {
      expect(await stubOf(spec).complete(second.lease, { token: second.token, result })).toEqual({
        ok: true,
        value: null,
      });
    }
    expect((await stateOf(spec))?.outbox).toHaveLength(1);
  });

  it("keeps a progress that was shown, even if its object vanishes", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const encode = await claim(spec, "encode");
    await stubOf(spec).progress([{ ...encode, stage: "encoding", fraction: 0.7 }]);
    const shown = await stubOf(spec).view();
    await evictDurableObject(stubOf(spec));
    const after = await stubOf(spec).view();
    expect(shown.ok && after.ok && after.value.progress === shown.value.progress && shown.value.progress).toBe("68%");
  });
});

describe("uploads", () => {
  it("are signed for single objects, without the storage's secret", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const answer = await stubOf(spec).uploads(lease, { token, files: [{ output: 0, ordinal: 1, sizeBytes: 1000 }] });
    const ticket = answer.ok && "uploads" in answer.value ? answer.value.uploads[0] : undefined;
    const url = new URL(ticket?.parts[0]?.url ?? "");
    expect(url.origin + url.pathname).toBe("http://127.0.0.1:9/bucket/out/a%20b.mp4");
    expect(url.searchParams.get("X-Amz-Credential")).toMatch(/^AKID\/\d{8}\/us-east-1\/s3\/aws4_request$/);
    expect(url.searchParams.get("X-Amz-SignedHeaders")).toBe("content-type;host");
    expect(ticket?.parts).toMatchObject([{ headers: { "content-type": "video/mp4" }, offset: 0, sizeBytes: 1000 }]);
    expect(JSON.stringify(answer)).not.toContain(SECRET_KEY);
  });

  it("say why the storage gives none", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const answer = await stubOf(spec).uploads(lease, { token, files: [{ output: 0, ordinal: 1, sizeBytes: 2 ** 30 }] });
    expect(answer).toMatchObject({ ok: true, value: { failure: { code: "storage_unreachable" } } });
  });

  it("are refused for a file that the task does not have, and for a stale lease", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const ask = (output: number, ordinal: number, by = token) =>
      stubOf(spec).uploads(lease, { token: by, files: [{ output, ordinal, sizeBytes: 1 }] });
    expect(await ask(1, 1)).toMatchObject({ ok: false, code: "report_not_valid" });
    expect(await ask(0, 2)).toMatchObject({ ok: false, code: "report_not_valid" });
    expect(await ask(0, 1, "wrong")).toMatchObject({ ok: false, code: "lease_superseded" });
  });
});

describe("secrets", () => {
  it("lie in the object's storage only sealed, and are gone when the retention is over", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    await stubOf(spec).uploads(lease, { token, files: [{ output: 0, ordinal: 1, sizeBytes: 1000 }] });
    await stubOf(spec).complete(lease, { token, result });
    const dump = () => runInDurableObject(stubOf(spec), (_, { storage }) => JSON.stringify([...storage.kv.list()]));
    await runDurableObjectAlarm(stubOf(spec));
    expect(await dump()).toContain("s1.t1.");
    expect(await dump()).not.toContain(SECRET_KEY);
    await rewrite(spec, (state) => ({
      ...state,
      completedAt: Date.now() - RETENTION_MS,
      indexedVersion: state.version,
      outbox: state.outbox.map((delivery) => ({ ...delivery, state: "delivered" as const })),
    }));
    await runDurableObjectAlarm(stubOf(spec));
    expect(await dump()).toBe("[]");
    expect(await stubOf(spec).view()).toMatchObject({ ok: false, code: "job_not_found" });
  });
});

describe("notifications", () => {
  it("stay due, and are tried again by the schedule, when nobody answers", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    await stubOf(spec).uploads(lease, { token, files: [{ output: 0, ordinal: 1, sizeBytes: 1000 }] });
    await stubOf(spec).complete(lease, { token, result });
    await runDurableObjectAlarm(stubOf(spec));
    const [delivery] = (await stateOf(spec))?.outbox ?? [];
    expect(delivery).toMatchObject({
      event: "job.completed",
      state: "due",
      attempts: 1,
      lastResult: expect.stringMatching(/^No answer/),
    });
    expect(delivery?.nextAt).toBeGreaterThan(Date.now() + 2000);
    const alarm = await runInDurableObject(stubOf(spec), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBe(delivery?.nextAt);
  });
});
