// Changes of a job by nodes' reports on the tasks chunk, audio and join. Pure: (state, report, now) → next state.
import type { Failure } from "#shared/errors.ts";
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { slotClassOf } from "#shared/protocol/tasks.ts";
import { boundedChunkTargets } from "../state/bounded-quality.ts";
import type { ChunkResult, ChunkWork } from "../state/chunk-state.ts";
import { addTask, dropTask, moveOutputs, patchTask, removeTask, requestAdvertising } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask, type TaskState } from "../state/task-state.ts";
import {
  activeWork,
  attemptFolder,
  isChunkedTask,
  isWhole,
  joinsEarly,
  mayJoinEarly,
  otherAttempt,
  rangesOf,
  wantedOutputs,
} from "./chunk-work.ts";

type ChunkReport = TaskResult & { kind: "chunk" };
type AudioReport = TaskResult & { kind: "audio" };
type TextsReport = TaskResult & { kind: "texts" };

const mismatch = (message: string): Failure => ({ code: "chunk_mismatch", message });

/** Reason why a reported chunk is not accepted, or null. */
export function chunkFailure(state: JobState, task: TaskState, report: ChunkReport): Failure | null {
  const work = activeWork(state);
  const range = work && rangesOf(work)[task.chunk ?? -1];
  if (!work || !range) return mismatch("The job is no longer encoded in chunks");
  if (work.encoder !== null && work.encoder !== report.encoder) {
    const message = `This chunk was encoded with ${report.encoder}, the others with ${work.encoder}`;
    return { code: "encoder_not_available", message };
  }
  const { tracks } = report;
  if (!areOwn(task, tracks)) return mismatch("The chunk is in a scratch folder that is not the task's own");
  const named = new Set(tracks.map(keyOf));
  const expected = work.layout.filter(({ output }) => task.outputs.includes(output)).map(keyOf);
  const isWhole = expected.length > 0 ? isSame(named, expected) : task.outputs.every((index) => has(tracks, index));
  if (!isWhole || named.size !== tracks.length)
    return mismatch("This chunk does not have the same tracks as the others");
  const odd = tracks.find(({ output, frames }) => frames === null || !fits(state, output, frames, range.frames));
  if (odd) return mismatch(`Track ${odd.track} of this chunk has ${odd.frames} frames, the source has ${range.frames}`);
  return null;
}

const keyOf = ({ output, track }: { output: number; track: string }): string => `${output}/${track}`;
const isSame = (one: ReadonlySet<string>, other: readonly string[]): boolean =>
  one.size === other.length && other.every((key) => one.has(key));
const has = (tracks: readonly { output: number }[], index: number): boolean =>
  tracks.some(({ output }) => output === index);
/** True if all objects are in the folder of the task's attempt. */
const areOwn = (task: TaskState, tracks: ChunkReport["tracks"]): boolean =>
  tracks.every(({ name, output }) => name.startsWith(attemptFolder(task)) && task.outputs.includes(output));

/** True if a track has as many frames as expected: exactly the source's number if the output keeps all timestamps. */
function fits(state: JobState, output: number, frames: number, ofSource: number): boolean {
  const spec = state.spec.outputs[output];
  const formats = spec?.type === "video" ? [spec] : spec?.type === "httpstream" ? spec.variants : [];
  const keepsTimes = formats.every(({ video, container }) => video?.fps == null && KEEPS_TIMESTAMPS.has(container));
  return !keepsTimes || frames === ofSource;
}

/** The other containers have a constant frame rate (frame-timing.ts): only their nodes know the number of frames. */
const KEEPS_TIMESTAMPS: ReadonlySet<string> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp"]);

/**
 * Accepts a chunk that has no failure. The first good chunk counts: a node that still works on it is notified to stop.
 */
export function acceptChunk(state: JobState, task: TaskState, report: ChunkReport, now: number): JobState {
  const { chunks } = state;
  if (!chunks || task.chunk === null || !task.lease) return state;
  const other = otherAttempt(state, task);
  const layout =
    chunks.layout.length > 0 ? chunks.layout : report.tracks.map(({ output, track }) => ({ output, track }));
  const result: ChunkResult = {
    task: task.id,
    ...(task.speculativeOf && { speculativeOf: task.speculativeOf }),
    attempt: task.attempt,
    token: task.lease.token,
    nodeId: task.lease.nodeId,
    tries: task.attempt + (other?.attempt ?? 0),
    encodeMs: report.encodeMs,
    tookMs: now - task.lease.since,
    startedAt: task.lease.since,
    tracks: layout.map((place) => packedTrack(task, report, keyOf(place))),
    ...(report.targets
      ? { targets: boundedChunkTargets(report.targets, { outputs: task.outputs, tracks: layout.length }) }
      : {}),
  };
  const next: JobState = {
    ...(other ? dropTask(state, other) : state),
    chunkResults: { ...state.chunkResults, [task.chunk]: result },
    chunks: chunks.encoder === null ? { ...chunks, encoder: report.encoder, layout } : chunks,
  };
  return endWaiting(joinIfReady(removeTask(moveOutputs(next, task.outputs, "start"), task.id)), now);
}

/** Ends the wait of an early join when the last chunk is done. */
function endWaiting(state: JobState, now: number): JobState {
  const task = state.tasks.find(({ lease }) => lease?.waitedUntil === null);
  if (!task?.lease || joinsEarly(state, task)) return state;
  return patchTask(state, task.id, { lease: { ...task.lease, waitedUntil: now } });
}

function packedTrack(task: TaskState, { tracks }: ChunkReport, key: string): ChunkResult["tracks"][number] {
  const track = tracks.find((candidate) => keyOf(candidate) === key);
  return track ? [track.name.slice(attemptFolder(task).length), track.sizeBytes, track.frames ?? 0] : null;
}

/** Reason why reported audio is not accepted, or null. */
export function audioFailure(task: TaskState, { tracks }: AudioReport): Failure | null {
  if (!areOwn(task, tracks)) return mismatch("The audio is in a scratch folder that is not the task's own");
  return task.outputs.every((index) => has(tracks, index)) ? null : mismatch("The audio of an output is missing");
}

/** Reason why reported text is not accepted, or null. */
export const textsFailure = (task: TaskState, { tracks }: TextsReport): Failure | null =>
  areOwn(task, tracks) ? null : mismatch("The text is in a scratch folder that is not the task's own");

/** Accepts text that has no failure; the caller finishes its task. Chunks may have waited for it. */
export const acceptTexts = (state: JobState, { tracks }: TextsReport): JobState =>
  state.chunks
    ? requestAdvertising(joinIfReady({ ...state, chunks: { ...state.chunks, texts: tracks } }), "encode")
    : state;

/** Accepts audio that has no failure; the caller finishes its task. */
export function acceptAudio(state: JobState, { tracks, loudness = [] }: AudioReport): JobState {
  const outputs = state.outputs.map((output, index) => {
    const measured = loudness.find((report) => report.output === index);
    return measured ? { ...output, loudness: measured.mixes } : output;
  });
  return joinIfReady(state.chunks ? { ...state, outputs, chunks: { ...state.chunks, audio: tracks } } : state);
}

/**
 * Largest difference between a chunk's first frame and its planned timestamp that is only rounding (design: 0.1 ms).
 */
const MAX_ERROR_US = 100;

/** A node cannot have joined chunks that are still encoded. */
export const NOT_ALL_JOINED = mismatch("The chunks were joined before all of them were done");

/** Reason why the joined chunks are not as planned, or null. */
export function boundaryFailure({ framesPlanned, framesJoined, largestErrorUs }: ChunkBoundaryCheck): Failure | null {
  if (framesPlanned !== framesJoined) {
    return mismatch(`The joined video has ${framesJoined} frames instead of ${framesPlanned}`);
  }
  if (largestErrorUs > MAX_ERROR_US) return mismatch(`A chunk starts ${largestErrorUs} µs off its planned time`);
  return null;
}

/**
 * Adds the task that joins the chunks when all chunks, the audio and the text are done. For a stream that is played
 * while it is encoded, the first chunk is enough.
 */
export function joinIfReady(state: JobState): JobState {
  const work = activeWork(state);
  if (!work) return state;
  const [known] = state.tasks.filter(({ kind, phase }) => kind === "join" && phase !== "failed");
  // The hub forgets a task that no node could take. Now a node may take it.
  if (known) return known.phase === "pending" ? requestAdvertising(state, slotClassOf(known)) : state;
  const variant = isWhole(state, work) ? undefined : "early";
  if (variant && !mayJoinEarly(state, work)) return state;
  const outputs = wantedOutputs(state, work);
  return addTask(state, newTask({ kind: "join", round: state.round, outputs, ...(variant && { variant }) }));
}

/** Joins the chunks only when all of them are done: the outputs do not depend on joining them early. */
export const joinLate = (state: JobState, task: TaskState): JobState => {
  const { chunks } = state;
  return chunks ? joinIfReady(dropTask({ ...state, chunks: { ...chunks, mayJoinEarly: false } }, task)) : state;
};

/**
 * Gives up encoding in chunks: a single task encodes the outputs that have not ended. The objects in the scratch bucket
 * are kept for a retry of the job.
 */
export function fallBack(state: JobState, reason: string): JobState {
  const work = activeWork(state);
  if (!work) return state;
  const unfinished = state.tasks.filter((task) => isChunkedTask(task) && task.phase !== "done");
  const cleared = unfinished.reduce(dropTask, state);
  const outputs = wantedOutputs(state, work);
  const next = { ...cleared, chunks: { ...work, isActive: false }, ultrafast: { reason } };
  if (outputs.length === 0) return next;
  const whole = newTask({ kind: "encode", round: state.round, outputs, variant: "whole" });
  return addTask(moveOutputs(next, outputs, "requeue"), whole);
}

/** Counts an attempt of a chunked task that had no result. */
export const countRetry = (state: JobState): JobState =>
  state.chunks ? { ...state, chunks: { ...state.chunks, retries: state.chunks.retries + 1 } } : state;

/** Adds the first tasks of the work on chunks, besides the chunks themselves (see freshChunks). */
export function beginWork(state: JobState, work: ChunkWork): JobState {
  const started = { ...state, chunks: work, ultrafast: { reason: null } };
  const { round } = state;
  const others = [
    newTask({ kind: "texts", round, outputs: work.textOutputs }),
    newTask({ kind: "audio", round, outputs: work.audioOutputs }),
  ].filter(({ outputs }) => outputs.length > 0);
  return joinIfReady(others.reduce(addTask, started));
}
