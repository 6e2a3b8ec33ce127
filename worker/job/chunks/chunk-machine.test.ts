import { beforeAll, describe, expect, it } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { Assignment, TaskOf } from "#shared/protocol/tasks.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { RETENTION_MS } from "../../settings.ts";
import { checkedJob, newSpec, PROBE, videoChunking, videoProbe } from "../../testing/jobs.ts";
import { cancelJob, retryJob } from "../decide/client-moves.ts";
import { claimTasks, expireLeases, recordProgress, renewLease, runnableTasks } from "../decide/leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { nextAlarmAt, pendingEffects } from "../effects/job-effects.ts";
import { closeScratch, scratchToClear } from "../effects/scratch-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import type { JobState } from "../state/job-state.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { recordUpload } from "../uploads/sign-uploads.ts";
import { ultrafastReceipt } from "../views/chunk-view.ts";
import { viewJob } from "../views/job-view.ts";
import { activeWork } from "./chunk-work.ts";
import { speculationsDue, startSpeculations } from "./speculative-attempts.ts";

const NOW = 1_000_000;
const SECONDS = 240;
const KEEP_MS = 3_600_000;
/** Of the chunks of the film on two slots, in seconds: whole segments of 6 s. */
const LENGTHS = Array<number>(10).fill(24);
const ALL = LENGTHS.map((_, index) => index);
const STREAM = { path: "film", dash: { path: "dash" }, variants: ["mp4:720p", "mp4:360p"] };
const OUTPUTS = { "mp4:240p": { path: "a.mp4" }, "jpg:320x": { path: "%02d.jpg", number: 2 }, httpstream: STREAM };
const FAST = { settings: { ultrafast: true }, outputs: OUTPUTS };
let spec: JobSpec;
beforeAll(async () => {
  spec = await newSpec(FAST);
});

const CHUNKING = { readOrigin: false, keepMs: KEEP_MS };
let tokens = 0;
/** One task for a node, or undefined. */
function claim(state: JobState, nodeId = "a", now = NOW, chunking: typeof CHUNKING | null = CHUNKING) {
  for (const slotClass of ["inspect", "encode"] as const) {
    const secrets = { sourceUrl: "https://media.example.com/film.mp4", streamKeys: new Map(), chunking };
    const wish = { nodeId, session: `s-${nodeId}`, slotClass, max: 1, tokens: [`t${tokens++}`], ...secrets };
    const claimed = claimTasks(state, wish, now);
    const [given] = claimed.assignments;
    if (given) return { state: claimed.state, given, id: given.lease.split(".")[1] ?? "" };
  }
  return { state, given: undefined as never, id: "" };
}

/** A job whose source was inspected. */
function inspected(of = spec, { seconds = SECONDS, chunking = videoChunking(seconds) as unknown, slots = 2 } = {}) {
  const { state, id } = claim(checkedJob(of));
  const result = { kind: "inspect", probe: videoProbe(seconds), ...(chunking ? { chunking } : {}) } as TaskResult;
  return completeTask(state, id, result, NOW, slots);
}

const tracksOf = ({ lease, task }: Pick<Assignment, "lease" | "task">): { output: number; track: string }[] => {
  if (!("outputs" in task)) throw new Error(`${lease} has no outputs`);
  return task.outputs.flatMap(({ index: output, type }) =>
    (type === "httpstream" ? ["720p", "360p"] : ["v"]).map((track) => ({ output, track })),
  );
};
const folderOf = ({ lease }: Pick<Assignment, "lease">): string => lease.split(".").slice(1).join("-");

/** What a good node reports of a task. */
function good(given: Assignment, changes: { encoder?: string; frames?: number } = {}): TaskResult {
  const { task } = given;
  const file = (output: number, track: string) => ({
    output,
    track,
    name: `${folderOf(given)}/${output}-${track}.mp4`,
  });
  switch (task.kind) {
    case "chunk": {
      const frames = changes.frames ?? task.chunk.frames;
      const tracks = tracksOf(given).map(({ output, track }) => ({ ...file(output, track), sizeBytes: 7, frames }));
      return { kind: "chunk", tracks, encoder: changes.encoder ?? "libx264 7.0", encodeMs: 5000 };
    }
    case "audio": {
      const tracks = task.outputs.map(({ index }) => ({ ...file(index, "audio"), sizeBytes: 3, frames: null }));
      return { kind: "audio", tracks };
    }
    case "join":
      return { kind: "join", outputs: task.outputs.map(({ index }) => made(index)), boundaries: BOUNDARIES };
    case "encode":
      return { kind: "encode", outputs: task.outputs.map(({ index }) => made(index)) };
    default:
      throw new Error(`To ${task.kind} is not done here`);
  }
}
const BOUNDARIES: ChunkBoundaryCheck = {
  framesPlanned: 6000,
  framesJoined: 6000,
  largestErrorUs: 11,
  videoOverAudioMs: 4,
};
const sent = (output: number, file: number | string) => ({ output, file, sizeBytes: 5, etags: ['"e"'] });
const FILES: Record<number, (number | string)[]> = { 0: [1], 1: [1, 2], 2: ["dash/master.mpd"] };
const made = (output: number): OutputReport => ({
  ...{ status: "made", output, files: (FILES[output] ?? []).map((file) => sent(output, file)) },
  probe: output === 0 ? PROBE : null,
});

/** Uploads all that the task's outputs need, as a node does before it reports them. */
function upload(state: JobState, id: string): JobState {
  const outputs = state.tasks.find((task) => task.id === id)?.outputs ?? [];
  const files = outputs.flatMap((output) => (FILES[output] ?? []).map((file) => ({ output, file })));
  const granted = { sizeBytes: 5, partCount: 1, uploadId: null };
  return files.reduce((next, file) => recordUpload(next, id, file, granted), state);
}

/** One node does one task well. */
function step(state: JobState, nodeId = "a", now = NOW, tookMs = 1000): JobState {
  const { state: claimed, given, id } = claim(state, nodeId, now);
  if (!given) throw new Error("Nothing to do");
  const result = good(given);
  return completeTask(
    result.kind === "join" || result.kind === "encode" ? upload(claimed, id) : claimed,
    id,
    result,
    now + tookMs,
  );
}

/** Goes on until nothing is left to do but what `until` names. */
function run(state: JobState, until: (kind: string) => boolean = () => false): JobState {
  let next = state;
  for (;;) {
    const waiting = runnableTasks(next, "encode");
    if (waiting.length === 0 || until(waiting[0]?.kind ?? "")) return next;
    next = step(next);
  }
}
/** Results as if all chunks but one were done. */
const allBut = ({ chunkResults }: JobState, index: number): JobState["chunkResults"] => {
  const [some] = Object.values(chunkResults);
  return Object.fromEntries(ALL.flatMap((n) => (n === index || !some ? [] : [[n, some]])));
};
const joining = () => run(inspected(), (kind) => kind === "join");
const kindsOf = (state: JobState): string[] => runnableTasks(state, "encode").map(({ id }) => id);
const statuses = (state: JobState) => viewJob(state).outputs.map(({ status }) => status);

describe("a film in chunks", () => {
  it("has its sound, what cannot be cut, and then its chunks given out", () => {
    const state = inspected();
    expect(kindsOf(state)).toEqual(["audio", "encode", ...ALL.map((n) => `chunk-${n}`)]);
    expect(viewJob(state).ultrafast).toEqual({ chunks: ALL.length });
    const sound = claim(state);
    expect(sound.given.task).toMatchObject({ kind: "audio", outputs: [{ index: 0 }, { index: 2 }] });
    const encode = claim(sound.state);
    expect(encode.given.task).toMatchObject({ kind: "encode", outputs: [{ index: 1 }] });
    const chunk = claim(encode.state);
    expect(chunk.given).toMatchObject({
      lease: `${spec.id}.chunk-0.1`,
      task: {
        ...{ kind: "chunk", outputs: [{ index: 0 }, { index: 2 }], encoder: null },
        source: { from: "scratch", pieces: [{ name: "inspect-1/source-1", sizeBytes: 1_000_000 }] },
        chunk: { index: 0, from: null, to: { index: 600, frameUs: 24_000_000 }, frames: 600 },
      },
    });
    expect(kindsOf(chunk.state)).toHaveLength(ALL.length - 1);
  });

  it("is joined once all of it is there, and says how it was made", () => {
    const state = joining();
    expect(kindsOf(state)).toEqual(["join"]);
    const { given, state: claimed, id } = claim(state, "b");
    const task = given.task as TaskOf<"join">;
    expect(task.chunks.map(({ range, tracks }) => [range.index, range.frames, tracks.length])).toEqual(
      ALL.map((index) => [index, 25 * (LENGTHS[index] ?? 0), 3]),
    );
    expect(task.chunks[3]?.tracks[1]).toEqual({
      ...{ output: 2, track: "720p", name: "chunk-3-1/2-720p.mp4", sizeBytes: 7, frames: 600 },
    });
    expect(task.audio.map(({ name }) => name)).toEqual(["audio-1/0-audio.mp4", "audio-1/2-audio.mp4"]);
    const done = completeTask(upload(claimed, id), id, good(given), NOW);
    expect(viewJob(done)).toMatchObject({ status: "job.completed", ultrafast: { chunks: ALL.length } });
    expect(ultrafastReceipt(done)).toMatchObject({
      ...{ frames_planned: 6000, frames_joined: 6000, largest_error_us: 11, picture_over_sound_ms: 4 },
      ...{ retries: 0, encoder: "libx264 7.0" },
    });
    expect(ultrafastReceipt(done)?.chunks[5]).toEqual({
      frames: 600,
      seconds: 24,
      node: "a",
      attempts: 1,
      encode_seconds: 5,
    });
  });

  it("shows its outputs on their way, and never less than it has shown", () => {
    const seen: [string, string][] = [];
    let state = inspected();
    const look = (next: JobState): JobState => {
      const view = viewJob(next);
      seen.push([view.progress, view.outputs[2]?.status ?? ""]);
      state = { ...next, shownPercent: Number.parseInt(view.progress, 10) };
      return state;
    };
    look(state);
    for (let at = 0; at < ALL.length + 3; at++) {
      const { state: claimed, given, id } = claim(state);
      look(claimed);
      for (const stage of ["encoding", "uploading"] as const) {
        const item = { lease: given.lease, token: given.token, stage, fraction: 0.5 };
        look(recordProgress(state, item, NOW).state);
      }
      look(completeTask(upload(state, id), id, good(given), NOW + 1000));
    }
    const percents = seen.map(([percent]) => Number.parseInt(percent, 10));
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(new Set(seen.map(([, status]) => status.replace("httpstream.", "")))).toEqual(
      new Set(["queued", "variants.encoding", "packaging", "packaged"]),
    );
    expect(seen.at(-1)).toEqual(["100%", "httpstream.packaged"]);
  });

  it.each<[string, object, object, string]>([
    ["short", {}, { seconds: 60 }, "the input is not longer than a minute."],
    ["all pictures", { outputs: { "jpg:320x": { path: "a.jpg" } } }, {}, "it is made of single pictures."],
    ["cut", { outputs: { "mp4:240p": { path: "a.mp4", duration: 90 } } }, {}, "it is a part of the input."],
    [
      "uncuttable",
      {},
      { chunking: { ok: false, why: "Its keyframes are far apart." } },
      "Its keyframes are far apart.",
    ],
    ["unknown to its node", {}, { chunking: null }, "does not know how to cut it"],
    ["elsewhere", {}, { chunking: videoChunking(SECONDS, "inspect-2") }, "did not say where its copy is"],
    ["for one node alone", {}, { slots: 1 }, "there are no two nodes or slots to share it."],
    [
      "longer by its frames than it is",
      {},
      { chunking: videoChunking(2 * SECONDS) },
      "do not last as long as the input.",
    ],
    ["without places", {}, { chunking: { ...videoChunking(SECONDS), splitPoints: [] } }, "too few places"],
  ])("is encoded in one piece when it is %s, and says so", async (_, changes, what, words) => {
    const state = inspected(await newSpec({ ...FAST, ...changes }), what);
    expect(kindsOf(state)).toEqual(["encode"]);
    expect(viewJob(state).ultrafast).toEqual({ chunks: 0, reason: expect.stringContaining(words) });
  });

  it.each([
    ["each slot", "mp4:240p", 1280, 6],
    ["each slot but the one that encodes the sound of small pictures", "mp4:240p", 320, 5],
    ["each slot when there is no sound", "mp4:240p:x:metadata=0", 320, 6],
  ])("has a chunk for %s", async (_, format, width, chunks) => {
    const { state, id } = claim(checkedJob(await newSpec({ ...FAST, outputs: { [format]: { path: "a.mp4" } } })));
    const probe = videoProbe(180);
    const small = {
      ...probe,
      streams: probe.streams.map((each) => (each.width ? { ...each, width, height: 180 } : each)),
    };
    const result = { kind: "inspect", probe: small, chunking: videoChunking(180) } as const;
    expect(viewJob(completeTask(state, id, result, NOW, 6)).ultrafast).toEqual({ chunks });
  });

  it("is encoded in one piece without a scratch bucket, and without a word where chunks were not asked for", async () => {
    const { state, given } = claim(checkedJob(spec), "a", NOW, null);
    expect(given.task).toMatchObject({ chunking: null });
    const result = { kind: "inspect" as const, probe: videoProbe(SECONDS), chunking: videoChunking(SECONDS) };
    expect(viewJob(completeTask(state, "inspect", result, NOW)).ultrafast?.reason).toMatch(/no scratch storage/);
    const plain = inspected(await newSpec({ outputs: OUTPUTS }));
    expect([kindsOf(plain), viewJob(plain)]).toEqual([["encode"], expect.not.objectContaining({ ultrafast: {} })]);
  });

  it.each([
    ["no task for sound that it lacks", "mp4:240p:x:metadata=0", {}, "chunk-0"],
    ["one for the tags of a silent film", "mp4:240p:x", {}, "audio"],
    ["one for the thumbnails of a silent stream", "httpstream", { thumbnails: true }, "audio"],
    ["none for a silent stream", "httpstream", {}, "chunk-0"],
  ])("has %s", async (_, format, more, first) => {
    const stream = { hls: { path: "h" }, variants: ["mp4:240p:x"], ...more };
    const outputs = { [format]: format === "httpstream" ? stream : { path: "a.mp4" } };
    expect(kindsOf(inspected(await newSpec({ ...FAST, outputs })))[0]).toBe(first);
  });
});

describe("a chunk", () => {
  /** A job of which a node has a chunk, another chunk being done. */
  function chunking() {
    const first = run(inspected(), (kind) => kind === "chunk");
    return claim(step(first), "b");
  }
  const other = (given: Assignment, change: (track: object) => object): TaskResult => {
    const result = good(given) as TaskResult & { kind: "chunk" };
    return { ...result, tracks: result.tracks.map(change) as never };
  };

  it("is done once, whoever reports it how often", () => {
    const { state, given, id } = chunking();
    const proof = { lease: given.lease, token: given.token };
    const done = completeTask(state, id, good(given), NOW + 5);
    expect(done.tasks.find((task) => task.id === id)).toBeUndefined();
    expect(checkLease(done, proof).verdict).toBe("repeat");
    expect(checkLease(done, { ...proof, token: "wrong" }).verdict).toBe("superseded");
    expect(checkLease(done, { ...proof, lease: given.lease.replace(/1$/, "2") as LeaseId }).verdict).toBe("superseded");
    expect(renewLease(done, proof, NOW).verdict).toBe("repeat");
  });

  it.each<[string, (given: Assignment) => TaskResult]>([
    ["a frame too few", (given) => good(given, { frames: 899 })],
    [
      "a track too few",
      (given) => ({ ...good(given), tracks: (good(given) as never as { tracks: [] }).tracks.slice(1) }) as never,
    ],
    ["other tracks", (given) => other(given, (track) => ({ ...track, track: "144p" }))],
    ["one track twice", (given) => other(given, (track) => ({ ...track, output: 2, track: "720p" }))],
    ["a name of another grant", (given) => other(given, (track) => ({ ...track, name: "chunk-0-1/0-v.mp4" }))],
  ])("with %s goes to another node, and ends the attempt to make chunks when it comes again", (_, report) => {
    const { state, given, id } = chunking();
    const once = completeTask(state, id, report(given), NOW);
    expect(once.tasks.find((task) => task.id === id)).toMatchObject({ phase: "pending", avoid: ["b"], failures: 1 });
    expect(statuses(once)[0]).toBe("video.encoding");
    const again = claim(once, "c", NOW + 2000);
    expect(again.id).toBe(id);
    const fallen = completeTask(again.state, id, report(again.given), NOW + 2000);
    expect(kindsOf(fallen)).toEqual(["encode-whole"]);
    expect(viewJob(fallen).ultrafast?.reason).toMatch(/^Encoded in one piece, because a chunk could not be encoded: /);
    expect(run(fallen).status).toBe("job.completed");
  });

  it("by another encoder is no failure, but not taken; the next node is told which one is wanted", () => {
    const { state, given, id } = chunking();
    expect(given.task).toMatchObject({ encoder: "libx264 7.0" });
    const refused = completeTask(state, id, good(given, { encoder: "h264_nvenc 7.0" }), NOW);
    expect(refused.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 0, avoid: ["b"] });
    expect(checkLease(refused, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
    const lacking = failTask(state, id, { code: "encoder_not_available", message: "No libx264" }, NOW);
    expect(lacking.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 0 });
    // A node gets such a chunk again only when it has failed at all that wait; then it counts.
    const others = refused.tasks.filter((task) => task.id === id);
    const back = claim({ ...refused, tasks: others, chunkResults: allBut(refused, 1) }, "b");
    const twice = failTask(back.state, id, { code: "encoder_not_available", message: "No libx264" }, NOW);
    expect(twice.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 1 });
    expect(run(refused).status).toBe("job.completed");
  });

  it("that is lost is begun again, until it was lost too often", () => {
    const { state, given, id } = chunking();
    const lost = expireLeases(state, NOW + LEASE_MS);
    expect(kindsOf(lost)[0]).toBe(id);
    expect(statuses(lost)[0]).toBe("video.encoding");
    expect(renewLease(lost, { lease: given.lease, token: given.token }, NOW).verdict).toBe("current");
    let next = lost;
    for (let at = 1; at <= MAX_LOSSES; at++) {
      next = expireLeases(claim(next, `c${at}`, NOW + at * LEASE_MS).state, NOW + (at + 1) * LEASE_MS);
    }
    expect([kindsOf(next), statuses(next)]).toEqual([
      ["encode-whole"],
      ["video.queued", "image.created", "httpstream.queued"],
    ]);
  });

  it("that fails for good has the other nodes told, and finished outputs left alone", () => {
    const { state, given, id } = chunking();
    const two = claim(state, "c");
    const fallen = failTask(two.state, id, { code: "watermark_failed", message: "It is no picture" }, NOW);
    expect(fallen.revoked).toContain(two.given.lease);
    expect(checkLease(fallen, { lease: two.given.lease, token: two.given.token }).verdict).toBe("superseded");
    expect(checkLease(fallen, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
    expect(claim(fallen).given.task).toMatchObject({ kind: "encode", outputs: [{ index: 0 }, { index: 2 }] });
    expect(run(fallen).status).toBe("job.completed");
  });
});

describe("a slow chunk", () => {
  /** All chunks are done in a second each, but for one that `slow` has since NOW. */
  function waiting() {
    const begun = run(inspected(), (kind) => kind === "chunk");
    const held = claim(begun, "slow");
    const alive = renewLease(held.state, { lease: held.given.lease, token: held.given.token }, NOW + 60_000).state;
    return { ...held, state: run(alive) };
  }
  const twin = (state: JobState) => claim(startSpeculations(state, NOW + 30_000), "quick", NOW + 30_000);

  it("is given to another node as well when the others took half the time", () => {
    const { state } = waiting();
    expect(speculationsDue(state).map(({ at }) => at)).toEqual([NOW + 10_000]);
    expect(
      nextAlarmAt({ ...state, indexedVersion: state.version, advertisedAt: {} as never }, () => 0, RETENTION_MS),
    ).toBe(NOW + 10_000);
    expect(startSpeculations(state, NOW + 9999)).toBe(state);
    const offered = startSpeculations(state, NOW + 10_000);
    expect(kindsOf(offered)).toEqual(["chunk-0-twin"]);
    expect(startSpeculations(offered, NOW + 20_000)).toBe(offered);
    expect(claim(offered, "slow", NOW + 10_000).given).toBeUndefined();
    expect(claim(offered, "quick", NOW + 10_000).given.lease).toBe(`${spec.id}.chunk-0-twin.1`);
  });

  it("waits while others have not begun, and while nobody knows what is slow", () => {
    const begun = run(inspected(), (kind) => kind === "chunk");
    expect(speculationsDue(step(step(claim(begun, "slow").state)))).toEqual([]);
    const chunking = { ...videoChunking(100), longestGopMs: 30_000 };
    const two = run(inspected(spec, { seconds: 100, chunking }), (kind) => kind === "chunk");
    expect(kindsOf(two)).toHaveLength(2);
    expect(speculationsDue(run(claim(two, "slow").state))).toEqual([]);
  });

  it.each(["slow", "quick"])("counts by the first good result, here that of %s", (first) => {
    const held = waiting();
    const second = twin(held.state);
    const [winner, loser] = first === "slow" ? [held, second] : [second, held];
    const done = completeTask(second.state, winner.id, good(winner.given), NOW + 31_000);
    expect(kindsOf(done)).toEqual(["join"]);
    expect(done.revoked).toEqual([loser.given.lease]);
    expect(checkLease(done, { lease: loser.given.lease, token: loser.given.token }).verdict).toBe("superseded");
    expect(done.chunkResults[0]).toMatchObject({ nodeId: first, tries: 2 });
    const ended = run(done);
    expect(ultrafastReceipt(ended)?.chunks[0]).toMatchObject({ node: first, attempts: 2 });
  });

  it.each(["slow", "quick"])("goes on with one node when %s fails or is lost", (which) => {
    const held = waiting();
    const second = twin(held.state);
    const [gone, left] = which === "slow" ? [held, second] : [second, held];
    const failure = { code: "encoding_failed", message: "It broke" } as const;
    const lost = { code: "node_lost", message: "Draining" } as const;
    for (const why of [failure, lost]) {
      const alone = failTask(second.state, gone.id, why, NOW + 31_000);
      expect(alone.tasks.filter(({ kind }) => kind === "chunk").map(({ id }) => id)).toEqual([left.id]);
      expect(run(completeTask(alone, left.id, good(left.given), NOW + 32_000)).status).toBe("job.completed");
      expect(kindsOf(failTask(alone, left.id, lost, NOW + 32_000))).toEqual([left.id]);
    }
  });
});

describe("joining", () => {
  const failed = (output: number, code: "encoding_failed" | "storage_denied"): OutputReport => {
    return { status: "failed", output, failure: { code, message: "It broke" } };
  };

  it.each<[string, Partial<ChunkBoundaryCheck>, boolean]>([
    ["a frame is missing", { framesJoined: 5999 }, false],
    ["a frame is beside its time", { largestErrorUs: 1001 }, false],
    ["all is as planned", { largestErrorUs: 99, videoOverAudioMs: null }, true],
  ])("is tried again, and then given up, when %s: %j", (_, changed, isGood) => {
    const { state, given, id } = claim(joining());
    const report = { ...good(given), boundaries: { ...BOUNDARIES, ...changed } } as TaskResult;
    const once = completeTask(upload(state, id), id, report, NOW);
    if (isGood) return expect(once.status).toBe("job.completed");
    const again = claim(once, "b", NOW + 2000);
    const twice = completeTask(upload(again.state, id), id, report, NOW + 2000);
    expect(kindsOf(twice)).toEqual(["encode-whole"]);
    expect(viewJob(twice).ultrafast).toEqual({ chunks: 0, reason: expect.stringContaining("could not be joined") });
    const ended = run(twice);
    expect([ended.status, ultrafastReceipt(ended)]).toEqual(["job.completed", null]);
  });

  it("that fails for one output is tried again for that, and then it is encoded whole", () => {
    const { state, given, id } = claim(joining());
    const half = { ...good(given), outputs: [made(0), failed(2, "encoding_failed")] } as TaskResult;
    const once = completeTask(upload(state, id), id, half, NOW);
    expect(statuses(once)).toEqual(["video.encoded", "image.created", "httpstream.variants.encoding"]);
    const again = claim(once, "b", NOW + 2000);
    expect((again.given.task as TaskOf<"join">).chunks[0]?.tracks.map(({ output }) => output)).toEqual([2, 2]);
    const other = { ...good(again.given), outputs: [failed(2, "encoding_failed")] } as TaskResult;
    const twice = completeTask(upload(again.state, id), id, other, NOW + 2000);
    expect(claim(twice).given).toMatchObject({ task: { kind: "encode", outputs: [{ index: 2 }] } });
  });

  it("does not encode whole what a storage refuses", () => {
    const { state, given, id } = claim(joining());
    const refused = { ...good(given), outputs: [made(0), failed(2, "storage_denied")] } as TaskResult;
    const ended = completeTask(upload(state, id), id, refused, NOW);
    expect(viewJob(ended)).toMatchObject({ status: "job.failed", ultrafast: { chunks: ALL.length } });
  });
});

describe("the scratch folder", () => {
  const deniedAt = (state: JobState, now = NOW): JobState => {
    const { state: claimed, given, id } = claim(state, "a", now);
    const failure = { code: "storage_denied", message: "No" } as const;
    const outputs = (given.task as TaskOf<"join">).outputs.map(({ index: output }) => ({
      status: "failed",
      output,
      failure,
    }));
    return completeTask(claimed, id, { ...good(given), outputs } as TaskResult, now);
  };

  it("is kept while a retry could use it, and removed at once when not", () => {
    const failed = deniedAt(joining());
    const cancelled = cancelJob(joining(), NOW);
    const noMedia = failTask(claim(checkedJob(spec)).state, "inspect", { code: "input_not_media", message: "No" }, NOW);
    const rows: [string, JobState | null, { folder: number; dueAt: number }[]][] = [
      ["running", joining(), []],
      ["completed", run(joining()), [{ folder: 0, dueAt: 0 }]],
      ["failed", failed, [{ folder: 0, dueAt: NOW + KEEP_MS }]],
      ["failed without chunks", noMedia, [{ folder: 0, dueAt: 0 }]],
      ["cancelled", cancelled, [{ folder: 0, dueAt: 0 }]],
      ["never used", cancelJob(checkedJob(spec), NOW), []],
    ];
    for (const [name, state, due] of rows) expect(state && scratchToClear(state), name).toEqual(due);
    expect(pendingEffects(failed, RETENTION_MS).map(({ name }) => name)).toContain("clear-scratch:0");
  });

  it("serves a retry of the failed job: what is done is not done again", () => {
    const begun = retryJob(deniedAt(joining()), 0);
    if (!begun) throw new Error("not begun");
    expect([kindsOf(begun), viewJob(begun).ultrafast, activeWork(begun)]).toEqual([[], undefined, null]);
    const inspect = claim(begun);
    const chunking = videoChunking(SECONDS, "inspect-1-1");
    const again = completeTask(
      inspect.state,
      inspect.id,
      { kind: "inspect", probe: videoProbe(SECONDS), chunking },
      NOW,
      9,
    );
    expect(kindsOf(again)).toEqual(["audio-1"]);
    const join = claim(step(again)).given.task as TaskOf<"join">;
    expect(join.chunks.map(({ tracks }) => tracks[0]?.name)).toEqual(ALL.map((n) => `chunk-${n}-1/0-v.mp4`));
    expect(run(again).status).toBe("job.completed");
  });

  const other = videoChunking(SECONDS, "inspect-1-1");
  it.each<[string, (state: JobState) => JobState, object]>([
    ["the folder is gone", (state) => closeScratch(state, 0), other],
    ["the source has other frames", (state) => state, { ...other, frames: 6001 }],
    [
      "the source has other bytes",
      (state) => state,
      { ...other, splitPoints: other.splitPoints.map(([a, b, c, d, e]) => [a, b, c, d, e + 1]) },
    ],
  ])("is of no use when %s", (_, change, chunking) => {
    const begun = retryJob(change(deniedAt(joining())), 0);
    const inspect = claim(begun ?? checkedJob(spec));
    const report = { kind: "inspect", probe: videoProbe(SECONDS), chunking } as TaskResult;
    const again = completeTask(inspect.state, inspect.id, report, NOW, 2);
    expect(kindsOf(again).sort()).toEqual([...ALL.map((n) => `chunk-${n}-r1`), "audio-1"]);
    expect(again.chunkResults).toEqual({});
  });

  it("goes on where a chunk had failed for good", () => {
    const half = step(step(run(inspected(), (kind) => kind === "chunk")));
    const { state, id } = claim(half);
    const fallen = failTask(state, id, { code: "watermark_failed", message: "It is no picture" }, NOW);
    const failed = deniedAt(fallen);
    expect(failed.status).toBe("job.failed");
    const begun = claim(retryJob(failed, 0) ?? checkedJob(spec));
    const report = { kind: "inspect", probe: videoProbe(SECONDS), chunking: other } as TaskResult;
    const again = completeTask(begun.state, begun.id, report, NOW);
    expect(kindsOf(again)).toEqual(["audio-1", ...ALL.slice(2).map((n) => `chunk-${n}-r1`)]);
    expect(viewJob(again).ultrafast).toEqual({ chunks: ALL.length });
  });
});

it("ends the work on chunks when the job is cancelled", () => {
  const { state, given } = claim(run(inspected(), (kind) => kind === "chunk"));
  const cancelled = cancelJob(state, NOW);
  if (!cancelled) throw new Error("not cancelled");
  expect(cancelled.revoked).toEqual([given.lease]);
  expect(kindsOf(cancelled)).toEqual([]);
  expect(checkLease(cancelled, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
  const begun = claim(retryJob(closeScratch(cancelled, 0), 0) ?? checkedJob(spec));
  expect(begun.given.lease).toBe(`${spec.id}.inspect-1.1`);
});
