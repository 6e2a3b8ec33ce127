// Jobs encoded in chunks, for tests of their decisions.
import { beforeAll } from "vitest";
import { parseLeaseId } from "#shared/ids.ts";
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { claimTasks, runnableTasks } from "../job/decide/leases.ts";
import { completeTask } from "../job/decide/reports.ts";
import type { JobState } from "../job/state/job-state.ts";
import { recordUpload } from "../job/uploads/sign-uploads.ts";
import { viewJob } from "../job/views/job-view.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { checkedJob, newSpec, PROBE, videoChunking, videoProbe } from "./jobs.ts";

export const NOW = 1_000_000;
export const SECONDS = 240;
/** Chunk lengths with two slots, in seconds: multiples of the segments of 6 s. */
export const LENGTHS = Array<number>(10).fill(24);
export const ALL = LENGTHS.map((_, index) => index);
export const STREAM = { path: "stream", dash: { path: "dash" }, variants: ["mp4:720p", "mp4:360p"] };
const IMAGES = { path: "%02d.jpg", number: 2 };
export const OUTPUTS = { "mp4:240p": { path: "a.mp4" }, "jpg:320x": IMAGES, httpstream: STREAM };
export const FAST = { settings: { ultrafast: true }, outputs: OUTPUTS };
/** The specification of `useChunkedSpec`. */
export let spec: JobSpec;

/** Gives the tests of a file a job with `ultrafast`: a video, images and a stream. */
export function useChunkedSpec(): void {
  beforeAll(async () => {
    spec = await newSpec(FAST);
  });
}

export const CHUNKING = { readOrigin: false };
let tokens = 0;
/** Assigns a task to a node. `given` is undefined if no task is left. */
export function claim(
  state: JobState,
  nodeId = "a",
  now = NOW,
  chunking: typeof CHUNKING | null = CHUNKING,
): { state: JobState; given: Assignment; id: string } {
  for (const slotClass of ["inspect", "encode"] as const) {
    const secrets = { sourceUrl: "https://media.example.com/video.mp4", streamKeys: new Map(), chunking };
    const request = { nodeId, session: `s-${nodeId}`, slotClass, max: 1, newToken: () => `t${tokens++}`, ...secrets };
    const claimed = claimTasks(state, request, now);
    const [given] = claimed.assignments;
    if (given) return { state: claimed.state, given, id: parseLeaseId(given.lease)?.task ?? "" };
  }
  return { state, given: undefined as never, id: "" };
}

/** A job whose source was inspected. */
export function inspected(
  of = spec,
  { seconds = SECONDS, chunking = videoChunking(seconds) as unknown, slots = 2 } = {},
) {
  const { state, id } = claim(checkedJob(of));
  const result = { kind: "inspect", probe: videoProbe(seconds), ...(chunking ? { chunking } : {}) } as TaskResult;
  return completeTask(state, id, result, NOW, slots);
}

export const tracksOf = ({ lease, task }: Pick<Assignment, "lease" | "task">): { output: number; track: string }[] => {
  if (!("outputs" in task)) throw new Error(`${lease} has no outputs`);
  return task.outputs.flatMap((spec) => {
    const heights = spec.type === "httpstream" ? spec.variants.map(({ video }) => `${video?.size.height}p`) : ["v"];
    return heights.map((track) => ({ output: spec.index, track }));
  });
};
/** The scratch folder of an attempt, without the slash at its end. */
export const folderOf = ({ lease }: { readonly lease: string }): string => {
  const { task, attempt } = parseLeaseId(lease) ?? {};
  return `${task}-${attempt}`;
};

/** The report of a node that has done its task correctly. */
export function good(given: Assignment, changes: { encoder?: string; frames?: number } = {}): TaskResult {
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
    case "texts":
      return {
        kind: "texts",
        tracks: [{ ...file(task.outputs[0]?.index ?? 0, "text-1"), sizeBytes: 3, frames: null }],
      };
    case "join":
      return { kind: "join", outputs: task.outputs.map(({ index }) => madeReport(index)), boundaries: BOUNDARIES };
    case "encode":
      return { kind: "encode", outputs: task.outputs.map(({ index }) => madeReport(index)) };
    default:
      throw new Error(`No report for the task ${task.kind}`);
  }
}
const FRAMES = { framesPlanned: 6000, framesJoined: 6000 };
export const BOUNDARIES: ChunkBoundaryCheck = { ...FRAMES, largestErrorUs: 11, videoOverAudioMs: 4 };
export const sent = (output: number, file: number | string) => ({ output, file, sizeBytes: 5, etags: ['"e"'] });
export const FILES: Record<number, (number | string)[]> = { 0: [1], 1: [1, 2], 2: ["dash/master.mpd"] };
export const madeReport = (output: number): OutputReport => ({
  status: "made",
  output,
  files: (FILES[output] ?? []).map((file) => sent(output, file)),
  probe: output === 0 ? PROBE : null,
});

/** Uploads all files of the task's outputs, as a node does before it reports them. */
export function upload(state: JobState, id: string): JobState {
  const outputs = state.tasks.find((task) => task.id === id)?.outputs ?? [];
  const files = outputs.flatMap((output) => (FILES[output] ?? []).map((file) => ({ output, file })));
  const single = { sizeBytes: 5, partCount: 1, uploadId: null };
  return files.reduce((next, file) => recordUpload(next, id, file, single), state);
}

/** Lets a node do a single task correctly. */
export function step(state: JobState, nodeId = "a", now = NOW, tookMs = 1000): JobState {
  const { state: claimed, given, id } = claim(state, nodeId, now);
  if (!given) throw new Error("No task to do");
  const result = good(given);
  return completeTask(
    result.kind === "join" || result.kind === "encode" ? upload(claimed, id) : claimed,
    id,
    result,
    now + tookMs,
  );
}

/** Does tasks until no task is left, or until `until` accepts the kind of the next task. */
export function run(state: JobState, until: (kind: string) => boolean = () => false): JobState {
  let next = state;
  for (;;) {
    const waiting = runnableTasks(next, "encode");
    if (waiting.length === 0 || until(waiting[0]?.kind ?? "")) return next;
    next = step(next);
  }
}
/** The results of a job whose chunks are all done, except the chunk at `index`. */
export const allBut = ({ chunkResults }: JobState, index: number): JobState["chunkResults"] => {
  const [some] = Object.values(chunkResults);
  return Object.fromEntries(ALL.flatMap((n) => (n === index || !some ? [] : [[n, some]])));
};
export const joining = () => run(inspected(), (kind) => kind === "join");
export const kindsOf = (state: JobState): string[] => runnableTasks(state, "encode").map(({ id }) => id);
export const statuses = (state: JobState) => viewJob(state).outputs.map(({ status }) => status);
