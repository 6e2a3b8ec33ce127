import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type LeaseId, newJobId, parseLeaseId } from "#shared/ids.ts";
import { unpackSplitPoints } from "#shared/media/frame-index.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { ScratchAnswer } from "#shared/protocol/scratch.ts";
import type { Assignment, TaskOf } from "#shared/protocol/tasks.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { newLeaseToken } from "../crypto/lease-token.ts";
import { hubOf } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { settingsOf } from "../settings.ts";
import { openScratch } from "../storage/s3/scratch.ts";
import { folderOf } from "../testing/chunked-jobs.ts";
import {
  bearer,
  newAccount,
  newNodeToken,
  newSpec,
  PROBE,
  send,
  unclearStorage,
  videoChunking,
  videoProbe,
} from "../testing/jobs.ts";
import { loadState, rewriteState } from "../testing/stored-state.ts";
import { claimFrom, sendProgress } from "../testing/turns.ts";
import { claimTasks, recordProgress } from "./decide/leases.ts";
import { completeTask } from "./decide/reports.ts";
import { JobStore } from "./persistence/job-store.ts";
import { withCommands } from "./state/command-log.ts";
import { taskOf } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";

const FAST = { settings: { ultrafast: true }, outputs: { "mp4:240p": { path: "a.mp4" } } };
const SECONDS = 240;
/** The number of chunks with two slots. */
const CHUNKS = 10;

const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const evict = (spec: JobSpec): Promise<void> => evictDurableObject(stubOf(spec));
const stateOf = (spec: JobSpec): Promise<JobState | null> =>
  runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));

async function claim(spec: JobSpec, nodeId = "node-a"): Promise<Assignment> {
  for (const slotClass of ["inspect", "encode"] as const) {
    const [given] = await claimFrom(stubOf(spec), { nodeId, session: `s-${nodeId}`, slotClass, max: 1 });
    if (given) return given;
  }
  throw new Error("No task to do");
}

/** Signs requests to write objects in the attempt's folder, and to read other objects. */
async function scratch(spec: JobSpec, { lease, token }: Assignment, puts: string[], gets: string[] = []) {
  const body = { token, puts: puts.map((name) => ({ name, sizeBytes: 4 })), gets };
  const answer = await stubOf(spec).scratch(lease, body);
  if (!answer.ok || !("puts" in answer.value)) throw new Error(JSON.stringify(answer));
  return answer.value as Extract<ScratchAnswer, { puts: unknown }>;
}

async function write(spec: JobSpec, given: Assignment, name: string): Promise<void> {
  const { puts } = await scratch(spec, given, [`${folderOf(given)}/${name}`]);
  for (const { url, headers } of puts) {
    expect((await fetch(url, { method: "PUT", headers, body: "abcd" })).status).toBe(200);
  }
}

/** Does a task successfully, with real objects in the scratch bucket. */
async function work(spec: JobSpec, given: Assignment): Promise<TaskResult> {
  const folder = folderOf(given);
  switch (given.task.kind) {
    case "inspect":
      await write(spec, given, "source-1");
      return { kind: "inspect", probe: videoProbe(SECONDS), chunking: videoChunking(SECONDS, folder) };
    case "chunk": {
      await write(spec, given, "v.mp4");
      const track = { output: 0, track: "v", name: `${folder}/v.mp4`, sizeBytes: 4, frames: given.task.chunk.frames };
      return { kind: "chunk", tracks: [track], encoder: "libx264 7.0", encodeMs: 1 };
    }
    case "audio": {
      await write(spec, given, "audio.mp4");
      const track = { track: "audio", name: `${folder}/audio.mp4`, sizeBytes: 4, frames: null };
      return { kind: "audio", tracks: given.task.outputs.map(({ index }) => ({ output: index, ...track })) };
    }
    case "join": {
      await stubOf(spec).uploads(given.lease, { token: given.token, files: [{ output: 0, file: 1, sizeBytes: 9 }] });
      const files = [{ output: 0, file: 1, sizeBytes: 9, etags: ['"e"'] }];
      const boundaries = { framesPlanned: 6000, framesJoined: 6000, largestErrorUs: 0, videoOverAudioMs: 0 };
      return { kind: "join", outputs: [{ status: "made", output: 0, files, probe: PROBE }], boundaries };
    }
    default:
      throw new Error(`No report for the task ${given.task.kind}`);
  }
}

async function done(spec: JobSpec, given: Assignment): Promise<void> {
  const result = await work(spec, given);
  const answer = await stubOf(spec).complete(given.lease, { token: given.token, result });
  expect(answer).toEqual({ ok: true, value: null });
}

async function begun(changes: object = {}): Promise<JobSpec> {
  const spec = { ...(await newSpec({ ...FAST, ...changes })) };
  await stubOf(spec).create(spec);
  return spec;
}

/** Does the job's tasks up to the first task of a kind. */
async function upTo(kind: string, changes: object = {}) {
  const spec = await begun(changes);
  for (;;) {
    const claimed = await claim(spec);
    if (claimed.task.kind === kind) return { spec, given: claimed };
    await done(spec, claimed);
  }
}

/** Connects a node with two slots that does other work. */
beforeAll(async () => {
  const headers = { ...bearer(await newNodeToken()), upgrade: "websocket" };
  const { webSocket } = await exports.default.fetch(new Request("https://copra.test/v2/nodes/connect", { headers }));
  const other = newJobId(randomBytes);
  const running = [`${other}.encode.1`, `${other}.encode.2`].map((lease) => {
    const token = newLeaseToken(lease as LeaseId, settingsOf(env).sealingKeys, randomBytes);
    return { lease, token, slotClass: "encode" };
  });
  const nothing = { filters: [], muxers: [], hardware: null };
  const capabilities = { ffmpegVersion: "7.0", encoders: ["libx264"], cpus: 2, ...nothing };
  const free = { inspect: 0, encode: 0 };
  const node = { nodeId: "busy", session: "s", capabilities, slots: free, running };
  const hello = { type: "hello", protocol: PROTOCOL_VERSION, ...node };
  webSocket?.accept();
  webSocket?.send(JSON.stringify(hello));
  await vi.waitFor(async () => expect(await hubOf(env).capacity()).toBe(2));
});

/** The result of a chunk of a video and of a stream with a single rendition. */
async function trackOf(spec: JobSpec, given: Assignment): Promise<TaskResult> {
  const result = await work(spec, given);
  if (result.kind !== "chunk") throw new Error("Not a chunk");
  return { ...result, tracks: result.tracks.flatMap((track) => [track, { ...track, output: 1, track: "360p" }]) };
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
const folderStore = (spec: JobSpec, folder = 0) => {
  const settings = settingsOf(env).scratch;
  if (!settings) throw new Error("No scratch");
  return openScratch(settings, spec.id, folder);
};

describe("a job in chunks", () => {
  it("ends even if its object dies between any two steps, and leaves no scratch objects", async () => {
    const spec = await begun();
    const kinds: string[] = [];
    for (;;) {
      await evict(spec);
      const claimed = await claim(spec);
      kinds.push(claimed.task.kind);
      await evict(spec);
      await sendProgress(stubOf(spec), [
        { lease: claimed.lease, token: claimed.token, stage: "encoding", fraction: 0.5 },
      ]);
      await evict(spec);
      const result = await work(spec, claimed);
      await evict(spec);
      const report = { token: claimed.token, result };
      expect(await stubOf(spec).complete(claimed.lease, report)).toEqual({ ok: true, value: null });
      await evict(spec);
      expect(await stubOf(spec).complete(claimed.lease, report)).toEqual({ ok: true, value: null });
      if (claimed.task.kind === "join") break;
    }
    expect(kinds).toEqual(["inspect", "audio", ...Array.from({ length: CHUNKS }, () => "chunk"), "join"]);
    await runDurableObjectAlarm(stubOf(spec));
    expect(await stubOf(spec).view()).toMatchObject({
      ok: true,
      value: { status: "job.completed", ultrafast: { chunks: CHUNKS } },
    });
    const { scratch: left } = (await stateOf(spec)) as JobState;
    expect(left).toMatchObject({ folder: 1, isUsed: false, leftovers: [] });
    for (const name of ["inspect-1/source-1", "audio-1/audio.mp4", "chunk-3-1/v.mp4"]) {
      expect(await statusOf(await folderStore(spec).get(name)), name).toBe(404);
    }
  });

  it("shows its client a receipt of its chunks", async () => {
    const account = await newAccount();
    const spec = { ...(await newSpec(FAST)), accountId: account.id };
    await stubOf(spec).create(spec);
    const read = (path: string) => account.get(`${path}/${spec.id}`);
    await runDurableObjectAlarm(stubOf(spec));
    for (let kind = ""; kind !== "join"; ) {
      const claimed = await claim(spec);
      kind = claimed.task.kind;
      await done(spec, claimed);
    }
    expect((await read("/v2/jobs")).body.ultrafast).toEqual({ chunks: CHUNKS });
    const { chunks, ...receipt } = (await read("/v2/metadata/jobs")).body.metadata.ultrafast;
    expect(chunks[0]).toEqual({ frames: 600, seconds: 24, node: "node-a", attempts: 1, encode_seconds: 0.001 });
    expect(receipt).toEqual({
      frames_planned: 6000,
      frames_joined: 6000,
      largest_error_us: 0,
      av_offset_ms: 0,
      retries: 0,
      encoder: "libx264 7.0",
    });
  });

  it("keeps the scratch of a failed job for an hour, for its retry", async () => {
    const { spec, given } = await upTo("join", { storage: unclearStorage() });
    const failure = { code: "storage_denied", message: "No" } as const;
    const { lease, token } = given;
    const boundaries = { framesPlanned: 1, framesJoined: 1, largestErrorUs: 0, videoOverAudioMs: 0 };
    const result: TaskResult = { kind: "join", outputs: [{ status: "failed", output: 0, failure }], boundaries };
    await stubOf(spec).complete(lease, { token, result });
    await runDurableObjectAlarm(stubOf(spec));
    const chunk = await folderStore(spec).get("chunk-0-1/v.mp4");
    expect(await statusOf(chunk)).toBe(200);
    await stubOf(spec).retry();
    await evict(spec);
    await done(spec, await claim(spec));
    // Encoding waits for the check of the storage.
    const audio = await vi.waitFor(() => claim(spec));
    expect(audio.lease).toBe(`${spec.id}.audio-r1.1`);
    await done(spec, audio);
    expect((await claim(spec)).lease).toBe(`${spec.id}.join-r1.1`);
    await stubOf(spec).cancel();
    await evict(spec);
    await runDurableObjectAlarm(stubOf(spec));
    expect(await statusOf(chunk)).toBe(404);
  });

  it("finishes a removal that was interrupted", async () => {
    const { spec, given } = await upTo("chunk");
    await write(spec, given, "v.mp4");
    const scratch = { folder: 1, leftovers: [0] };
    await rewriteState(stubOf(spec), (state) => ({ ...state, scratch: { ...state.scratch, ...scratch } }));
    await runDurableObjectAlarm(stubOf(spec));
    expect(await statusOf(await folderStore(spec).get(`${folderOf(given)}/v.mp4`))).toBe(404);
  });
});

describe("POST /v2/nodes/leases/:lease/scratch", () => {
  const post = async (lease: LeaseId, body: object, headers: Record<string, string>) => {
    const { status, body: answer } = await send(`/v2/nodes/leases/${lease}/scratch`, { method: "POST", body, headers });
    return [status, answer.error_code];
  };

  it("signs objects that the task may write or read, and rejects others", async () => {
    const { spec, given } = await upTo("chunk");
    const { lease, token } = given;
    const node = bearer(await newNodeToken());
    const put = (name: string, sizeBytes = 4) => ({ token, puts: [{ name, sizeBytes }], gets: [] });
    const get = (...gets: string[]) => ({ token, puts: [], gets });
    const refused = [400, "report_not_valid"];
    const rows: [string, object, unknown[]][] = [
      ["its own object", put("chunk-0-1/v.mp4"), [200, undefined]],
      ["the source", get("inspect-1/source-1"), [200, undefined]],
      ["another chunk's place", put("chunk-1-1/v.mp4"), refused],
      ["another attempt's place", put("chunk-0-2/v.mp4"), refused],
      ["a name that climbs", put("chunk-0-1/../x.mp4"), refused],
      ["no name of a file", put("chunk-0-1"), refused],
      ["more than S3 takes at once", put("chunk-0-1/v.mp4", 5 * 2 ** 30 + 1), refused],
      ["another's object", get("audio-1/audio.mp4"), refused],
      ["all, for one that is not its own", get("inspect-1/source-1", "audio-1/audio.mp4"), refused],
      ["too many at once", get(...Array.from({ length: 201 }, () => "inspect-1/source-1")), refused],
      ["with a wrong token", { ...put("chunk-0-1/v.mp4"), token: "wrong" }, [409, "lease_superseded"]],
    ];
    for (const [name, body, expected] of rows) expect(await post(lease, body, node), name).toEqual(expected);
    expect(await post(lease, put("chunk-0-1/v.mp4"), {})).toEqual([401, "authentication_failed"]);
    expect(await post("no-lease" as LeaseId, put("x"), node)).toEqual(refused);
    await stubOf(spec).cancel();
    expect(await post(lease, put("chunk-0-1/v.mp4"), node)).toEqual([409, "lease_superseded"]);
  });

  it("lets a join read all chunks, and an encode nothing", async () => {
    const { spec, given } = await upTo("join");
    const task = given.task as TaskOf<"join">;
    const names = [...task.chunks.flatMap(({ tracks }) => tracks), ...task.audio].map(({ name }) => name);
    const { gets } = await scratch(spec, given, [], names);
    expect(names).toHaveLength(CHUNKS + 1);
    expect(new Set(await Promise.all(gets.map(statusOf)))).toEqual(new Set([200]));
    const { spec: plain, given: encode } = await upTo("encode", {
      outputs: { ...FAST.outputs, "jpg:320x": { path: "a.jpg" } },
    });
    const body = { token: encode.token, puts: [{ name: "encode-1/x", sizeBytes: 1 }], gets: [] };
    const answer = await stubOf(plain).scratch(encode.lease, body);
    expect(answer).toMatchObject({ ok: false, error: { code: "report_not_valid" } });
  });
});

describe("POST /v2/nodes/leases/:lease/chunks", () => {
  it("lists the finished chunks for a node that joins them, and rejects other nodes", async () => {
    const headers = bearer(await newNodeToken());
    const ask = async ({ lease, token }: Pick<Assignment, "lease" | "token">, from: unknown = 0, own = headers) => {
      const path = `/v2/nodes/leases/${lease}/chunks`;
      const answer = await send(path, { method: "POST", body: { token, from }, headers: own });
      return [answer.status, answer.body.error_code ?? answer.body.chunks.length];
    };
    const stream = { httpstream: { path: "s", dash: { path: "dash" }, variants: ["mp4:360p"], live_playlist: true } };
    const { spec, given: first } = await upTo("chunk", { outputs: { ...FAST.outputs, ...stream } });
    expect(await ask(first)).toEqual([400, "report_not_valid"]);
    const [, encoded] = await Promise.all([claim(spec, "other"), trackOf(spec, first)]);
    await stubOf(spec).complete(first.lease, { token: first.token, result: encoded });
    const [joining] = await claimFrom(stubOf(spec), { nodeId: "c", session: "s", slotClass: "encode", max: 1 });
    if (joining?.task.kind !== "join") throw new Error("Not a join");
    expect(joining.task.chunks.map(({ tracks }) => tracks.length)).toEqual([2, ...Array(CHUNKS - 1).fill(0)]);
    expect(await ask(joining)).toEqual([200, 1]);
    expect(await ask(joining, 1)).toEqual([200, 0]);
    expect(await ask(joining, -1)).toEqual([400, "report_not_valid"]);
    expect(await ask({ ...joining, token: "wrong" })).toEqual([409, "lease_superseded"]);
    expect(await ask(joining, 0, {} as typeof headers)).toEqual([401, "authentication_failed"]);
    await stubOf(spec).cancel();
    expect(await ask(joining)).toEqual([409, "lease_superseded"]);
  });
});

/** A storage that counts its writes, in bytes of JSON. */
function counting(storage: DurableObjectStorage) {
  const count = { bytes: 0, rows: 0, largest: 0 };
  const put = (key: string, value: unknown): void => {
    const bytes = JSON.stringify(value).length;
    count.bytes += bytes;
    count.rows += 1;
    count.largest = Math.max(count.largest, bytes);
    storage.kv.put(key, value);
  };
  const kv = { put, delete: (key: string) => storage.kv.delete(key), list: () => storage.kv.list() };
  const transactionSync = <T>(act: () => T): T => storage.transactionSync(act);
  return { count, storage: { kv, transactionSync } as unknown as DurableObjectStorage };
}

/** Two long commands that differ in a few times, like the commands of chunks. */
const commandsOf = (id: string): CommandReport[] =>
  ["720p", "360p"].map((track) => ({
    argv: ["-ss", id, ...Array.from({ length: 200 }, (_, at) => `-${track}-option-${at}`), `${id}-${track}.mp4`],
    afterMs: 1234,
    tookMs: 12_345,
    exitCode: 0,
  }));

it("writes little for each chunk, however many there are", async () => {
  const [seconds, nodes] = [12_600, 40];
  const spec = await begun({ outputs: { httpstream: { path: "stream", dash: { path: "dash" } } } });
  const { done, chunks, ...count } = await runInDurableObject(stubOf(spec), (_, { storage }) => {
    const disk = counting(storage);
    const store = new JobStore(disk.storage);
    let state = store.load() as JobState;
    const save = (next: JobState): void => {
      store.save(next);
      state = next;
    };
    const claimOne = (slotClass: "inspect" | "encode", nodeId: string): Assignment => {
      const secrets = { sourceUrl: "", streamKeys: new Map(), chunking: { readOrigin: false } };
      const request = { nodeId, session: "s", slotClass, max: 1, newToken: () => "t".repeat(28), ...secrets };
      const claimed = claimTasks(state, request, Date.now());
      save(claimed.state);
      return claimed.assignments[0] as Assignment;
    };
    const report = (given: Assignment, result: TaskResult): void => {
      const id = parseLeaseId(given.lease)?.task ?? "";
      const next = completeTask(state, id, result, Date.now(), nodes);
      save({ ...next, commands: withCommands(next.commands, taskOf(state, id), commandsOf(id)) });
    };
    const chunking = videoChunking(seconds);
    report(claimOne("inspect", "first"), { kind: "inspect", probe: videoProbe(seconds), chunking });
    claimOne("encode", "first");
    const chunks = unpackSplitPoints(state.chunks?.splitPoints ?? []).length + 1;
    Object.assign(disk.count, { bytes: 0, rows: 0, largest: 0 });
    const held = Array.from({ length: nodes }, (_, at) => claimOne("encode", `node-${at}`));
    for (let at = 0; at < chunks; at++) {
      const assignment = held[at % nodes] as Assignment;
      const { lease, token, task } = assignment;
      save(recordProgress(state, { lease, token, stage: "encoding", fraction: 0.5 }, Date.now()).state);
      const frames = task.kind === "chunk" ? task.chunk.frames : 0;
      const tracks = ["1080p", "720p", "480p", "360p", "240p", "144p"].map((track) => {
        return { output: 0, track, name: `${folderOf(assignment)}/0-${track}.mp4`, sizeBytes: 12_345_678, frames };
      });
      report(assignment, { kind: "chunk", tracks, encoder: "libx264 7.0.2-static", encodeMs: 12_345.678 });
      if (at + nodes < chunks) held[at % nodes] = claimOne("encode", `node-${at % nodes}`);
    }
    return { ...disk.count, chunks, done: Object.keys(state.chunkResults).length };
  });
  expect(chunks).toBeGreaterThan(200);
  expect(done).toBe(chunks);
  // A row for each of the three saves, of a few hundred kilobytes at most.
  expect(count.rows / chunks).toBeLessThan(3.6);
  expect(count.bytes / chunks).toBeLessThan(300_000);
  expect(count.largest).toBeLessThan(200_000);
  await evict(spec);
  expect(Object.keys((await stateOf(spec))?.chunkResults ?? {})).toHaveLength(chunks);
});
