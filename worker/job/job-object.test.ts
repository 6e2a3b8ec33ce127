import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { TaskList } from "#shared/api/task-responses.ts";
import type { LeaseId } from "#shared/ids.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import { findJob } from "../db/jobs/jobs.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { RETENTION_MS } from "../settings.ts";
import { newSpec, PROBE, SECRET_KEY } from "../testing/jobs.ts";
import { S3_STORAGE } from "../testing/s3-storage.ts";
import { loadState, rewriteState } from "../testing/stored-state.ts";
import { claimOne, sendProgress } from "../testing/turns.ts";
import { HubTurns } from "./hub-turns.ts";
import type { JobObject } from "./job-object.ts";
import { JobMemory } from "./persistence/job-memory.ts";
import { JobStore } from "./persistence/job-store.ts";
import { type KeptMetadata, unpackMetadata } from "./persistence/kept-metadata.ts";
import type { JobState } from "./state/job-state.ts";

const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const stateOf = (spec: JobSpec): Promise<JobState | null> =>
  runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));

async function claim(spec: JobSpec, slotClass: "inspect" | "encode", nodeId = "node-a") {
  const assignment = await claimOne(stubOf(spec), slotClass, nodeId);
  return assignment as { lease: LeaseId; token: string };
}

async function inspected(changes: Record<string, unknown> = {}): Promise<JobSpec> {
  const spec = await newSpec(changes);
  await stubOf(spec).create(spec);
  const { lease, token } = await claim(spec, "inspect");
  await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
  return spec;
}

/** The job's first delivery, after the alarm has tried it without a response. */
const firstTry = (spec: JobSpec) =>
  vi.waitFor(async () => {
    const delivery = (await stateOf(spec))?.outbox[0];
    expect(delivery?.attempts).toBeGreaterThan(0);
    return delivery;
  });

const STORED_URL = "http://127.0.0.1:9/bucket/out/a%20b.mp4";
const ACCEPTED = { ok: true, value: null };
const taken = (): string => "taken";
const VIDEO_ONLY = { outputs: { "mp4:240p": { path: "out/a b.mp4" } } };
const madeReport = {
  kind: "encode",
  outputs: [
    { status: "made", output: 0, files: [{ output: 0, file: 1, sizeBytes: 1000, etags: ['"e"'] }], probe: PROBE },
  ],
} as const;
const result = madeReport as unknown as Parameters<ReturnType<typeof stubOf>["complete"]>[1]["result"];

describe("a job", () => {
  it("gives up a result that causes internal errors, and does not lose the task", async () => {
    const spec = await newSpec(VIDEO_ONLY);
    await stubOf(spec).create(spec);
    const { lease, token } = await claim(spec, "inspect");
    const { save } = JobMemory.prototype;
    vi.spyOn(JobMemory.prototype, "save").mockImplementation(function (this: JobMemory, state) {
      if (state.input.probe) throw new RangeError("Invalid array length");
      return save.call(this, state);
    });
    const report = { token, result: { kind: "inspect" as const, probe: PROBE } };
    for (let count = 1; count < 5; count++) {
      // `expect` would look into the RPC promise, and leave the errors of its calls unhandled.
      const outcome = await stubOf(spec).complete(lease, report).then(taken, String);
      expect(outcome).toMatch(/length/);
    }
    expect(await stubOf(spec).complete(lease, report)).toEqual({ ok: true, value: null });
    vi.restoreAllMocks();
    expect((await stateOf(spec))?.tasks[0]).toMatchObject({ phase: "pending", failures: 1, avoid: ["node-a"] });
  });

  it("stores a repeated report that was only noted before, because its turn failed", async () => {
    const spec = await newSpec(VIDEO_ONLY);
    await stubOf(spec).create(spec);
    const { lease, token } = await claim(spec, "inspect");
    const body = { token, result: { kind: "inspect" as const, probe: PROBE } };
    const turn = { alive: [], progress: [], lost: [], want: [], done: [{ lease, verb: "complete" as const, body }] };
    const { take } = HubTurns.prototype;
    // Objects of other tests may have turns meanwhile.
    vi.spyOn(HubTurns.prototype, "take").mockImplementation(async function (this: HubTurns, taken, acks) {
      if (taken.done?.[0]?.lease === lease) throw new Error("The secrets cannot be opened");
      return take.call(this, taken, acks);
    });
    expect(await stubOf(spec).turn(turn).then(taken, String)).toMatch(/secrets/);
    expect((await stateOf(spec))?.input.probe).toBeNull();
    expect(await stubOf(spec).complete(lease, body)).toEqual({ ok: true, value: null });
    expect((await stateOf(spec))?.input.probe).not.toBeNull();
  });

  it("ends even if its object dies between any two steps", async () => {
    const spec = await newSpec(VIDEO_ONLY);
    const evict = () => evictDurableObject(stubOf(spec));
    await stubOf(spec).create(spec);
    await evict();
    const inspect = await claim(spec, "inspect");
    await evict();
    await sendProgress(stubOf(spec), [{ ...inspect, stage: "transferring", fraction: 0.5 }]);
    await evict();
    await stubOf(spec).complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
    await evict();
    const encode = await claim(spec, "encode");
    await evict();
    await stubOf(spec).uploads(encode.lease, { token: encode.token, files: [{ output: 0, file: 1, sizeBytes: 1000 }] });
    await evict();
    expect(await stubOf(spec).complete(encode.lease, { token: encode.token, result })).toEqual(ACCEPTED);
    await evict();
    await runDurableObjectAlarm(stubOf(spec));
    expect(await stubOf(spec).view()).toMatchObject({
      ok: true,
      value: { status: "job.completed", outputs: [{ status: "video.encoded", url: STORED_URL }] },
    });
    const fact = await stubOf(spec).fact("tasks");
    expect(fact.ok && TaskList.parse(JSON.parse(fact.value)).attempts).toMatchObject([
      { task: "inspect", attempt: 1, outcome: "completed" },
      { task: "encode", attempt: 1, outcome: "completed" },
    ]);
    expect((await stateOf(spec))?.outbox.map(({ event }) => event)).toEqual(["job.completed"]);
    expect(await findJob(env.DB, spec.accountId, spec.id)).toMatchObject({ status: "job.completed" });
  });

  it("starts only once", async () => {
    const spec = await inspected();
    await stubOf(spec).create(spec);
    expect((await stateOf(spec))?.input.status).toBe("input.transferred");
  });

  it("takes a lease back once from a node whose process has ended, and not from another node", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const report = { token, failure: { code: "node_lost", message: "ended" }, hasCrashed: true } as const;
    for (let i = 0; i < 2; i++) {
      expect(await stubOf(spec).fail(lease, report)).toEqual({ ok: true, value: null });
      expect((await stateOf(spec))?.tasks[1]).toMatchObject({ phase: "pending", losses: 1, avoid: ["node-a"] });
    }
    await claim(spec, "encode", "node-b");
    expect(await stubOf(spec).fail(lease, report)).toMatchObject({ ok: false, error: { code: "lease_superseded" } });
    expect((await stateOf(spec))?.tasks[1]).toMatchObject({ phase: "leased", losses: 1 });
  });

  it("writes nothing for the first sign of life of a lease, for progress, and for a client that polls", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const encode = await claim(spec, "encode");
    const report = (fraction: number) => sendProgress(stubOf(spec), [{ ...encode, stage: "encoding", fraction }]);
    const percent = async () => {
      const view = await stubOf(spec).view();
      return view.ok && view.value.progress;
    };
    // The changed status of the output is written.
    await report(0.1);
    const writes = vi.spyOn(JobStore.prototype, "save");
    await report(0.7);
    expect(await percent()).toBe("68%");
    await report(0.6);
    expect(await percent()).toBe("68%");
    // Jobs of earlier tests may still write.
    expect(writes.mock.calls.filter(([state]) => state.spec.id === spec.id)).toEqual([]);
    vi.restoreAllMocks();
    const { confirmBy, expiresAt = 0 } = (await stateOf(spec))?.tasks[1]?.lease ?? {};
    expect([confirmBy, expiresAt > Date.now() + LEASE_MS / 2]).toEqual([null, true]);
  });

  it("does not set its alarm again after an eviction", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const encode = await claim(spec, "encode");
    await evictDurableObject(stubOf(spec));
    const alarms = await runInDurableObject(stubOf(spec), async (object, { storage }) => {
      const set = vi.spyOn(storage, "setAlarm");
      const files = [{ output: 0, file: 1, sizeBytes: 1000 }];
      await (object as JobObject).uploads(encode.lease, { token: encode.token, files });
      return set.mock.calls.length;
    });
    expect(alarms).toBe(0);
  });
});

describe("a source in a bucket", () => {
  it("is leased with a URL that is signed for each claim, without the bucket's secret", async () => {
    const credentials = { access_key_id: "SOURCES", secret_access_key: SECRET_KEY };
    const bucket = { service: "s3", bucket: "videos", region: "eu-west-1", key: "/in/a b.mp4", credentials };
    const spec = await newSpec({ ...VIDEO_ONLY, input: bucket });
    await stubOf(spec).create(spec);
    const inspect = await claimOne(stubOf(spec), "inspect");
    const { origin, pathname, searchParams } = new URL(inspect?.task.kind === "inspect" ? inspect.task.sourceUrl : "");
    expect(origin + pathname).toBe("https://videos.s3.eu-west-1.amazonaws.com/in/a%20b.mp4");
    expect(searchParams.get("X-Amz-Credential")).toMatch(/^SOURCES\/\d{8}\/eu-west-1\/s3\/aws4_request$/);
    expect(JSON.stringify(inspect)).not.toContain(SECRET_KEY);
    const { lease, token } = inspect as { lease: LeaseId; token: string };
    await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
    const encode = await claimOne(stubOf(spec), "encode", "node-b");
    expect(encode?.task).toMatchObject({ sourceUrl: expect.stringContaining("X-Amz-Signature=") });
    const state = await stateOf(spec);
    expect(JSON.stringify(state)).not.toMatch(new RegExp(`X-Amz-|${SECRET_KEY}`));
    expect(await stubOf(spec).metadata(null)).toMatchObject({
      ok: true,
      value: expect.stringContaining('"filename":"https://videos.s3.eu-west-1.amazonaws.com/in/a%20b.mp4"'),
    });
  });
});

describe("uploads", () => {
  it("signs uploads of single objects, without the storage's secret", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const answer = await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 1000 }] });
    const ticket = answer.ok && "uploads" in answer.value ? answer.value.uploads[0] : undefined;
    const url = new URL(ticket?.parts[0]?.url ?? "");
    expect(url.origin + url.pathname).toBe("http://127.0.0.1:9/bucket/out/a%20b.mp4");
    expect(url.searchParams.get("X-Amz-Credential")).toMatch(/^AKID\/\d{8}\/us-east-1\/s3\/aws4_request$/);
    expect(url.searchParams.get("X-Amz-SignedHeaders")).toBe("content-length;content-type;host");
    expect(ticket?.parts).toMatchObject([{ headers: { "content-type": "video/mp4" }, offset: 0, sizeBytes: 1000 }]);
    expect(JSON.stringify(answer)).not.toContain(SECRET_KEY);
  });

  it("returns the failure of the storage", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const answer = await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 2 ** 30 }] });
    expect(answer).toMatchObject({ ok: true, value: { failure: { code: "storage_unreachable" } } });
  });

  it("rejects a file that the task does not have, and a superseded lease", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const ask = (output: number, file: number, by = token) =>
      stubOf(spec).uploads(lease, { token: by, files: [{ output, file, sizeBytes: 1 }] });
    expect(await ask(1, 1)).toMatchObject({ ok: false, error: { code: "report_not_valid" } });
    expect(await ask(0, 2)).toMatchObject({ ok: false, error: { code: "report_not_valid" } });
    expect(await ask(0, 1, "wrong")).toMatchObject({ ok: false, error: { code: "lease_superseded" } });
  });
});

describe("multipart uploads", () => {
  const ON_S3 = { ...VIDEO_ONLY, storage: S3_STORAGE };
  const LARGE = [{ output: 0, file: 1, sizeBytes: 20 * 2 ** 20 }];

  async function signedUpload(spec: JobSpec, { lease, token }: { lease: LeaseId; token: string }) {
    const answer = await stubOf(spec).uploads(lease, { token, files: LARGE });
    const parts = answer.ok && "uploads" in answer.value ? answer.value.uploads[0]?.parts : undefined;
    if (!parts) throw new Error(JSON.stringify(answer));
    return { parts, uploadId: new URL(parts[0]?.url ?? "").searchParams.get("uploadId") };
  }

  it("completes an upload when all of its parts are stored", async () => {
    const spec = await inspected(ON_S3);
    const encode = await claim(spec, "encode");
    const { parts } = await signedUpload(spec, encode);
    expect(parts.map(({ offset, sizeBytes }) => [offset, sizeBytes])).toEqual([
      [0, 16 * 2 ** 20],
      [16 * 2 ** 20, 4 * 2 ** 20],
    ]);
    const etags = await Promise.all(
      parts.map(async ({ url, sizeBytes }) => {
        const put = await fetch(url, { method: "PUT", body: new Uint8Array(sizeBytes).fill(7) });
        return put.headers.get("etag") ?? "";
      }),
    );
    const files = [{ ...LARGE[0], etags }];
    const report = { kind: "encode", outputs: [{ status: "made", output: 0, files, probe: PROBE }] } as unknown;
    await stubOf(spec).complete(encode.lease, { token: encode.token, result: report as typeof result });
    await vi.waitFor(async () => expect((await stateOf(spec))?.status).toBe("job.completed"));
    const stored = await fetch(`${S3_STORAGE.endpoint}/copra/out/a%20b.mp4`);
    expect([stored.status, stored.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    expect((await stored.arrayBuffer()).byteLength).toBe(20 * 2 ** 20);
    expect((await stateOf(spec))?.orphans).toEqual([]);
  });

  it("counts a single upload if concurrent requests start two for a file, and aborts the other", async () => {
    const spec = await inspected(ON_S3);
    const encode = await claim(spec, "encode");
    const [one, two] = await Promise.all([signedUpload(spec, encode), signedUpload(spec, encode)]);
    expect(one.uploadId).toBe(two.uploadId);
    expect((await stateOf(spec))?.tasks[1]?.uploads["0/1"]?.uploadId).toBe(one.uploadId);
    await vi.waitFor(async () => {
      // Aborted uploads are written with the next alarm at the latest.
      await runDurableObjectAlarm(stubOf(spec));
      expect((await stateOf(spec))?.orphans).toEqual([]);
    });
    expect((await signedUpload(spec, encode)).uploadId).toBe(one.uploadId);
  });
});

describe("the stored state", () => {
  it("can be read again, whatever the node reported", async () => {
    const spec = await newSpec(VIDEO_ONLY);
    await stubOf(spec).create(spec);
    const { lease, token } = await claim(spec, "inspect");
    const failure = { code: "input_not_media", message: "x".repeat(2000) } as const;
    await stubOf(spec).fail(lease, { token, failure });
    await evictDurableObject(stubOf(spec));
    expect(await stubOf(spec).view()).toMatchObject({ ok: true, value: { status: "job.failed" } });
  });

  it("stays within its limits for a source with megabytes of tags", async () => {
    const spec = await newSpec({
      ...VIDEO_ONLY,
      notification: { type: "http", url: "http://127.0.0.1:9/", events: true, metadata: true },
    });
    await stubOf(spec).create(spec);
    const { lease, token } = await claim(spec, "inspect");
    const probe = { ...PROBE, format: { ...PROBE.format, tags: { title: "\u4e2d".repeat(900_000) } } };
    await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe } });
    await evictDurableObject(stubOf(spec));
    expect(await stubOf(spec).view()).toMatchObject({ ok: true, value: { input: { status: "input.transferred" } } });
    await claim(spec, "encode");
  });

  it("rejects a result that is not of the task's kind", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    const answer = await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
    expect(answer).toMatchObject({ ok: false, error: { code: "report_not_valid" } });
    expect(await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 5 }] })).toMatchObject({
      ok: true,
    });
  });
});

describe("secrets", () => {
  it("stores secrets only sealed, and deletes them after the retention", async () => {
    const input = { url: `https://user:${SECRET_KEY}@media.example.com/video.mp4?signature=${SECRET_KEY}` };
    const spec = await inspected({ ...VIDEO_ONLY, input });
    const { lease, token } = await claim(spec, "encode");
    await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 1000 }] });
    await stubOf(spec).complete(lease, { token, result });
    const dump = () => runInDurableObject(stubOf(spec), (_, { storage }) => JSON.stringify([...storage.kv.list()]));
    await firstTry(spec);
    expect(await dump()).toContain("s1.t1.");
    expect(await dump()).not.toContain(SECRET_KEY);
    await rewriteState(stubOf(spec), (state) => ({
      ...state,
      completedAt: Date.now() - RETENTION_MS,
      indexedVersion: state.version,
      outbox: state.outbox.map((delivery) => ({ ...delivery, state: "delivered" as const })),
    }));
    await runDurableObjectAlarm(stubOf(spec));
    await vi.waitFor(async () => expect(await dump()).toMatch(/^\[\["kept-metadata",\{[^[]*\}\]\]$/));
    const entry = (_: unknown, { storage }: DurableObjectState) => [...storage.kv.list<KeptMetadata>()][0];
    const keptMetadata = await runInDurableObject(stubOf(spec), entry);
    expect(keptMetadata && JSON.stringify(unpackMetadata(keptMetadata[1]))).not.toMatch(
      new RegExp(`${SECRET_KEY}|s1\\.t1\\.`),
    );
    expect(await stubOf(spec).view()).toMatchObject({ ok: false, error: { code: "job_not_found" } });
  });
});

describe("notifications", () => {
  it("waits instead of spinning if a notification cannot be signed", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 1000 }] });
    await rewriteState(stubOf(spec), (state) => ({ ...state, spec: { ...state.spec, sealedSecrets: "s1.gone.AAAA" } }));
    await stubOf(spec).complete(lease, { token, result });
    await runDurableObjectAlarm(stubOf(spec));
    // The alarm may already ring by itself.
    const state = await vi.waitFor(async () => {
      const now = await stateOf(spec);
      expect(Object.values(now?.retries ?? {})).toHaveLength(1);
      return now;
    });
    expect(state?.outbox[0]).toMatchObject({ state: "due", attempts: 0 });
    expect(Object.values(state?.retries ?? {})[0]?.attempts).toBeLessThan(4);
  });

  it("retries a notification without a response according to the schedule", async () => {
    const spec = await inspected(VIDEO_ONLY);
    const { lease, token } = await claim(spec, "encode");
    await stubOf(spec).uploads(lease, { token, files: [{ output: 0, file: 1, sizeBytes: 1000 }] });
    await stubOf(spec).complete(lease, { token, result });
    const delivery = await firstTry(spec);
    expect(delivery).toMatchObject({
      event: "job.completed",
      state: "due",
      attempts: expect.any(Number),
      lastResult: expect.stringMatching(/^No response/),
    });
    expect(delivery?.nextAt).toBeGreaterThan((delivery?.createdAt ?? Infinity) + 2000);
    const alarm = () => runInDurableObject(stubOf(spec), (_, { storage }) => storage.getAlarm());
    await vi.waitFor(async () => expect(await alarm()).toBe((await stateOf(spec))?.outbox[0]?.nextAt));
  });
});
