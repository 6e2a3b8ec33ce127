// The task `join`: join the chunks of a video, add the audio, and upload the outputs.
import { rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "#shared/errors.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { PlannedCommand } from "#shared/plan/outputs/output-plan.ts";
import { planJoin } from "#shared/plan/tasks/plan-join.ts";
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { checkOutput, type RunResult } from "../../outputs/check-output.ts";
import { type Encoded, openDelivery } from "../../outputs/deliver-outputs.ts";
import { prepare } from "../../prepare/prepare.ts";
import { openPublisher, type Publisher } from "../../publish/publication.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { trackKey } from "../../workspace/fetch-tracks.ts";
import { type OnRuns, type RunFailure, runAll } from "../../workspace/run-planned.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inWorkspace, taskSource } from "../../workspace/task-source.ts";

import { timestampErrorUs } from "../chunk/chunk-file.ts";
import { mergeQualities } from "../chunk/chunk-quality.ts";
import { storedTexts } from "../texts.ts";
import { earlyRuns } from "./growing-run.ts";
import {
  endMs,
  type JoinChunk,
  type JoinedChunk,
  type JoinedTracks,
  type JoinTask,
  joinTracks,
} from "./join-tracks.ts";

export function join(task: JoinTask, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, async (folder) => {
    const publisher = openPublisher(task.outputs, deps);
    // Only the end of the task shows if the video is complete, so no output is reported earlier.
    const delivery = openDelivery(task.outputs.length, { ...deps, report: async () => false });
    try {
      const { tracks, encoded } = await joinOutputs({ task, folder, publisher }, deps);
      deps.releaseSlot();
      delivery.add(encoded.map((report) => withQuality(report, tracks)));
      return { kind: "join", outputs: await delivery.finish(), boundaries: checkChunkBoundaries(tracks) };
    } finally {
      await Promise.all([publisher.stop(), delivery.stop()]);
    }
  });
}

/** Adds the quality that the nodes of its chunks measured to a joined output. */
function withQuality(report: Encoded, { qualities }: JoinedTracks): Encoded {
  const chunks = qualities.get(report.output);
  return chunks && !("failure" in report)
    ? { ...report, quality: Promise.resolve(qualityReport(mergeQualities(chunks))) }
    : report;
}

type JoinWork = { readonly task: JoinTask; readonly folder: string; readonly publisher: Publisher };
type Joined = { readonly tracks: JoinedTracks; readonly encoded: readonly Encoded[] };

async function joinOutputs({ task, folder, publisher }: JoinWork, deps: TaskDeps): Promise<Joined> {
  const encoded: Encoded[] = [];
  const onEnded = (ended: readonly Encoded[]): void => void encoded.push(...ended);
  const texts = await storedTexts(task.texts ?? [], folder, deps);
  const source = taskSource({ source: "", probe: task.probe, folder });
  const prepared = await prepare(["texts"], { ...source, outputs: task.outputs, texts, onEnded }, deps);
  const { outputs, subtitles } = prepared;
  const growing = isGrowing(task);
  // Nothing is encoded here, so the capabilities of this node do not matter.
  const files = await RunFiles.create(folder);
  for (const [name, path] of prepared.textTracks) await rename(path, files.pathOf(name));
  const planned = { probe: task.probe, capabilities: ALL_SOFTWARE, folder: files.folder, isGrowing: growing };
  const commands = outputs.map((spec) => planJoin({ ...planned, outputs: [spec] }));
  // Segments are uploaded as soon as they are joined, while later chunks are still being fetched.
  const publications = await publisher.follow(
    commands.flatMap(({ outputs }) => outputs),
    files,
    subtitles,
  );
  const early = earlyRuns(growing ? commands : [], files, deps);
  try {
    const joining = {
      task,
      chunks: availableChunks(task, deps),
      outputs,
      folder: files.folder,
      chunkFolder: folder,
      onBegun: early.start,
    };
    const tracks = await joinTracks(joining, deps);
    early.complete();
    for (const [at, command] of commands.entries()) {
      const onProgress: OnRuns = (done, rate) =>
        deps.progress("encoding", (at + done / command.runs.length) / commands.length, rate);
      const run = () => early.of(command) ?? runAll(command.runs, files, onProgress, deps);
      const finished = await finishOutput(command, { specs: outputs, files, publications }, run, deps);
      encoded.push(...finished.map(prepared.describe));
    }
    return { tracks, encoded };
  } finally {
    await early.stop();
  }
}

/** Makes an output from its tracks, and checks the result. `run` runs the remaining commands of the output. */
async function finishOutput(
  { outputs }: PlannedCommand,
  result: RunResult,
  run: () => Promise<RunFailure | null>,
  deps: TaskDeps,
): Promise<Encoded[]> {
  const failed = await run();
  deps.signal.throwIfAborted();
  if (!failed) return Promise.all(outputs.map((planned) => checkOutput(planned, result, deps)));
  await Promise.all(outputs.map(({ output }) => result.publications.get(output)?.stop()));
  return outputs.map(({ output }) => ({ output, failure: failed.failure }));
}

// The chunks of a join, as they become available. A stream that is played while it is encoded is joined from its first
// chunk on.

/** Interval of requests for further chunks. Each chunk lasts tens of seconds. */
const ASK_EVERY_MS = 2000;

const isAvailable = ({ tracks }: JoinChunk): boolean => tracks.length > 0;

/** True if chunks of a task are still encoded. */
export const isGrowing = ({ chunks }: JoinTask): boolean => !chunks.every(isAvailable);

type ChunksDeps = Pick<TaskDeps, "requestChunks" | "waiting" | "signal">;

/**
 * Yields all chunks without gaps, as many at a time as are available. The task has no slot while it waits. Throws
 * AppError `node_busy` when it may not wait on this node, and as `requestChunks` does.
 */
export async function* availableChunks(task: JoinTask, deps: ChunksDeps): AsyncGenerator<readonly JoinChunk[]> {
  const { waiting, signal } = deps;
  if (isGrowing(task) && !waiting.begin()) {
    throw new AppError("node_busy", "The encoder node cannot wait for the chunks of another video");
  }
  let chunks: readonly JoinChunk[] = task.chunks;
  for (let next = 0; next < chunks.length; ) {
    const missing = chunks.findIndex((chunk, at) => at >= next && !isAvailable(chunk));
    const end = missing < 0 ? chunks.length : missing;
    if (end === chunks.length) waiting.end();
    if (end > next) yield chunks.slice(next, end);
    else await sleep(ASK_EVERY_MS, undefined, { signal });
    next = end;
    if (next < chunks.length) chunks = await withMore(chunks, next, deps);
  }
}

async function withMore(
  chunks: readonly JoinChunk[],
  from: number,
  { requestChunks }: ChunksDeps,
): Promise<readonly JoinChunk[]> {
  const more = await requestChunks(from);
  return chunks.map((chunk, at) => ({ ...chunk, tracks: more[at - from] ?? chunk.tracks }));
}

// Compares a joined video with its plan at the chunk boundaries. Pure.

/**
 * Frames are counted in the first video track, timestamps in all tracks. The audio is from the first output with audio.
 */
export function checkChunkBoundaries({ chunks, audio }: JoinedTracks): ChunkBoundaryCheck {
  const [first] = chunks;
  const ofTrack = first ? chunks.filter(({ planned }) => trackKey(planned) === trackKey(first.planned)) : [];
  const errors = chunks.map(({ planned, facts }) => timestampErrorUs(facts, planned.firstUs));
  return {
    framesPlanned: ofTrack.reduce((sum, { planned, facts }) => sum + (planned.frames ?? facts.frames), 0),
    framesJoined: ofTrack.reduce((sum, { facts }) => sum + facts.frames, 0),
    largestErrorUs: errors.reduce((largest, error) => Math.max(largest, error), 0),
    videoOverAudioMs: videoOverAudioMs(chunks, audio),
  };
}

function videoOverAudioMs(chunks: readonly JoinedChunk[], [audio]: JoinedTracks["audio"]): number | null {
  const video = chunks.filter(({ planned }) => planned.output === audio?.output);
  if (!audio || video.length === 0) return null;
  const videoMs = video.reduce((latest, { facts }) => Math.max(latest, endMs(facts)), 0);
  return videoMs - audio.endMs;
}
