// What nodes' reports on chunks, sound and join do to a job. Pure: (state, report, now) → next state.

import type { Failure } from "#shared/errors.ts";
import type { SeamReceipt } from "#shared/protocol/chunking.ts";
import type { TaskResult } from "#shared/protocol/protocol.ts";
import type { ChunkResult, ChunkWork } from "../state/chunk-state.ts";
import { addTask, leaseOf, moveOutputs, orphanUploads } from "../state/job-moves.ts";
import { type JobState, newTask, type TaskState } from "../state/job-state.ts";
import { activeWork, chunkCount, grantFolder, isPart, rangesOf, twinOf, wantedOutputs } from "./chunk-work.ts";

type ChunkReport = TaskResult & { kind: "chunk" };
type SoundReport = TaskResult & { kind: "sound" };

const mismatch = (message: string): Failure => ({ code: "chunk_mismatch", message });

/** Why a chunk that a node brought is not taken, or null. */
export function chunkProblem(state: JobState, task: TaskState, report: ChunkReport): Failure | null {
  const work = activeWork(state);
  const range = work && rangesOf(work)[task.chunk ?? -1];
  if (!work || !range) return mismatch("The film is no longer made of chunks");
  if (work.encoder !== null && work.encoder !== report.encoder) {
    const message = `This chunk was encoded by ${report.encoder}, the others by ${work.encoder}`;
    return { code: "encoder_not_available", message };
  }
  const { tracks } = report;
  if (!areOwn(task, tracks)) return mismatch("The chunk lies where another belongs");
  const named = new Set(tracks.map(keyOf));
  const expected = work.layout.filter(({ output }) => task.outputs.includes(output)).map(keyOf);
  const isWhole = expected.length > 0 ? isSame(named, expected) : task.outputs.every((index) => has(tracks, index));
  if (!isWhole || named.size !== tracks.length) return mismatch("This chunk has not the tracks of the others");
  const odd = tracks.find(({ output, frames }) => frames === null || !fits(state, output, frames, range.frames));
  if (odd) return mismatch(`The track ${odd.track} of this chunk has ${odd.frames} frames, the source ${range.frames}`);
  return null;
}

const keyOf = ({ output, track }: { output: number; track: string }): string => `${output}/${track}`;
const isSame = (one: ReadonlySet<string>, other: readonly string[]): boolean =>
  one.size === other.length && other.every((key) => one.has(key));
const has = (tracks: readonly { output: number }[], index: number): boolean =>
  tracks.some(({ output }) => output === index);
/** Whether all objects lie in the folder of the grant. */
const areOwn = (task: TaskState, tracks: ChunkReport["tracks"]): boolean =>
  tracks.every(({ name, output }) => name.startsWith(grantFolder(task)) && task.outputs.includes(output));

/** Whether a track has as many frames as it should: exactly the source's, where the output keeps the times of all frames. */
function fits(state: JobState, output: number, frames: number, ofSource: number): boolean {
  const spec = state.spec.outputs[output];
  const formats = spec?.type === "video" ? [spec] : spec?.type === "httpstream" ? spec.variants : [];
  const keepsTimes = formats.every(({ video, container }) => video?.fps == null && KEEPS_TIMES.has(container));
  return !keepsTimes || frames === ofSource;
}

/** The others have a constant rate (frame-timing.ts): their nodes know how many frames that makes. */
const KEEPS_TIMES: ReadonlySet<string> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp"]);

/** Takes a chunk that has no problem. The first good one counts: who still works on it is told to stop. */
export function takeChunk(state: JobState, task: TaskState, report: ChunkReport, now: number): JobState {
  const { chunks } = state;
  if (!chunks || task.chunk === null || !task.grant) return state;
  const twin = twinOf(state, task);
  const layout =
    chunks.layout.length > 0 ? chunks.layout : report.tracks.map(({ output, track }) => ({ output, track }));
  const result: ChunkResult = {
    ...{ task: task.id, attempt: task.attempt, token: task.grant.token, nodeId: task.grant.nodeId },
    tries: task.attempt + (twin?.attempt ?? 0),
    ...{ encodeMs: report.encodeMs, tookMs: now - task.grant.since },
    tracks: layout.map((place) => packed(task, report, keyOf(place))),
  };
  const next: JobState = {
    ...(twin ? dropTask(state, twin) : state),
    chunkResults: { ...state.chunkResults, [task.chunk]: result },
    chunks: chunks.encoder === null ? { ...chunks, encoder: report.encoder, layout } : chunks,
  };
  return joinIfReady(removeTask(moveOutputs(next, task.outputs, "start"), task.id));
}

function packed(task: TaskState, { tracks }: ChunkReport, key: string): ChunkResult["tracks"][number] {
  const track = tracks.find((candidate) => keyOf(candidate) === key);
  return track ? [track.name.slice(grantFolder(task).length), track.sizeBytes, track.frames ?? 0] : null;
}

/** Why the sound that a node brought is not taken, or null. */
export function soundProblem(task: TaskState, { tracks }: SoundReport): Failure | null {
  if (!areOwn(task, tracks)) return mismatch("The sound lies where something else belongs");
  return task.outputs.every((index) => has(tracks, index)) ? null : mismatch("An output has no sound");
}

/** Takes sound that has no problem; its task is to be finished by the caller. */
export const takeSound = (state: JobState, { tracks }: SoundReport): JobState =>
  joinIfReady(state.chunks ? { ...state, chunks: { ...state.chunks, sound: tracks } } : state);

/** The largest distance of a chunk's first frame from its planned time that is no more than rounding (design: 0.1 ms). */
const MAX_ERROR_US = 100;

/** Why a joined film is not what was planned, or null. */
export function seamProblem({ framesPlanned, framesJoined, largestErrorUs }: SeamReceipt): Failure | null {
  if (framesPlanned !== framesJoined) return mismatch(`The film has ${framesJoined} frames and not ${framesPlanned}`);
  if (largestErrorUs > MAX_ERROR_US) return mismatch(`A chunk begins ${largestErrorUs} µs beside its time`);
  return null;
}

/** Has the film joined once everything is there. */
export function joinIfReady(state: JobState): JobState {
  const work = activeWork(state);
  if (!work || Object.keys(state.chunkResults).length < chunkCount(work)) return state;
  if (work.sounding.length > 0 && work.sound === null) return state;
  const isJoined = state.tasks.some(({ kind, phase }) => kind === "join" && phase !== "failed");
  return isJoined ? state : addTask(state, newTask(state.round, "join", wantedOutputs(state, work)));
}

/**
 * Gives up making the film of chunks: what is left of its outputs is encoded by one task as usual. What lies in the scratch
 * bucket stays for a retry of the job.
 */
export function fallBack(state: JobState, why: string): JobState {
  const work = activeWork(state);
  if (!work) return state;
  const parts = state.tasks.filter((task) => isPart(task) && task.phase !== "done");
  const cleared = parts.reduce(dropTask, state);
  const outputs = wantedOutputs(state, work);
  const next = { ...cleared, chunks: { ...work, isActive: false }, ultrafast: { reason: why } };
  const whole = newTask(state.round, "encode", outputs, "encode-whole");
  return outputs.length === 0 ? next : addTask(moveOutputs(next, outputs, "requeue"), whole);
}

/** Forgets a task that nobody needs any more; the node that works on it is told. */
export function dropTask(state: JobState, task: TaskState): JobState {
  const orphaned = orphanUploads(state, task.id);
  const revoked = task.phase === "leased" ? [...state.revoked, leaseOf(state, task)] : state.revoked;
  return removeTask({ ...orphaned, revoked }, task.id);
}

const removeTask = (state: JobState, id: string): JobState => ({
  ...state,
  tasks: state.tasks.filter((task) => task.id !== id),
});

/** Counts an attempt of a part that came to nothing. */
export const countRetry = (state: JobState): JobState =>
  state.chunks ? { ...state, chunks: { ...state.chunks, retries: state.chunks.retries + 1 } } : state;

/** The tasks that a film needs at its beginning, beside the chunks themselves (see freshChunks). */
export function beginWork(state: JobState, work: ChunkWork): JobState {
  const begun = { ...state, chunks: work, ultrafast: { reason: null } };
  const sound = newTask(state.round, "sound", work.sounding);
  return joinIfReady(work.sounding.length > 0 && work.sound === null ? addTask(begun, sound) : begun);
}
