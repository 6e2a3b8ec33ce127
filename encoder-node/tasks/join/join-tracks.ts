// Joins the tracks of a chunked job in one folder, from the chunks that other nodes stored in the scratch bucket.
import { rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { planAudio } from "#shared/plan/tasks/plan-audio.ts";
import { type ChunkTrack, planChunk } from "#shared/plan/tasks/plan-chunk.ts";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { TrackQuality } from "../../quality/quality-report.ts";
import { probeResult } from "../../upload/made-file.ts";
import { fetchChunks, trackKey } from "../../workspace/fetch-tracks.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { isOtherFile } from "../audio.ts";
import { type ChunkFacts, readChunkFacts } from "../chunk/chunk-file.ts";
import { isMeasured, readChunkQuality } from "../chunk/chunk-quality.ts";
import { type JoinedTrack, openJoinedTrack } from "./join-track.ts";

export type JoinTask = TaskOf<"join">;
export type JoinChunk = JoinTask["chunks"][number];

/** A chunk of a track, as planned and as encoded. */
export type JoinedChunk = {
  readonly planned: Pick<ChunkTrack, "output" | "track" | "frames" | "firstUs">;
  readonly facts: ChunkFacts;
};

export type JoinedAudio = {
  readonly output: number;
  /** End on the source's timeline. */
  readonly endMs: number;
};

export type JoinedTracks = {
  /** By output: the measured quality of each chunk of its tracks. */
  readonly qualities: ReadonlyMap<number, readonly TrackQuality[]>;
  /** In time order within each track. */
  readonly chunks: readonly JoinedChunk[];
  readonly audio: readonly JoinedAudio[];
};

export type TracksWork = {
  readonly task: JoinTask;
  /** All chunks of the task in time order, as they become available. */
  readonly chunks: AsyncIterable<readonly JoinChunk[]>;
  /** The outputs of the task that are made. */
  readonly outputs: readonly OutputSpec[];
  /** Folder for the tracks, under their planned names; they grow there. Runs do not write here. */
  readonly folder: string;
  /** Folder for chunks until they are joined: another folder of this node. */
  readonly chunkFolder: string;
  /** Called when the first chunks are joined: all tracks and other files exist, and grow afterwards. */
  readonly onBegun: () => void;
};

type StoredChunk = { readonly scratch: ScratchTrack; readonly planned: ChunkTrack };

/**
 * Writes all tracks and other files of the outputs to the folder. Throws AppError `chunk_mismatch` when chunks are
 * missing, differ from the plan in their number of frames, or have unplanned files. Otherwise throws as `fetchChunks`
 * and `JoinedTrack.append` do.
 */
export async function joinTracks(work: TracksWork, deps: TaskDeps): Promise<JoinedTracks> {
  const { task, outputs, folder } = work;
  const otherFiles = plannedFiles(task, outputs);
  const plannedOf = new Map<ScratchTrack, ChunkTrack>();
  const joined = new Map<string, JoinedTrack>();
  const chunks: JoinedChunk[] = [];
  const audio: JoinedAudio[] = [];
  const qualities = new Map<number, TrackQuality[]>();
  const measured = new Set(outputs.filter(isMeasured).map(({ index }) => index));

  const appendChunk = async (stored: ScratchTrack, planned: ChunkTrack, path: string): Promise<void> => {
    const key = trackKey(stored);
    const track = joined.get(key) ?? (await openJoinedTrack(join(folder, planned.file), "video"));
    joined.set(key, track);
    const facts = await track.append(path);
    checkFrames(stored, planned, facts);
    chunks.push({ planned, facts });
    if (!measured.has(planned.output)) return;
    const quality = await readChunkQuality(path, planned.track, planned.sinceStart * 1000);
    if (quality) qualities.set(planned.output, [...(qualities.get(planned.output) ?? []), quality]);
  };
  /** Files that are not joined have their planned names already. */
  const moveFile = async (stored: ScratchTrack, path: string): Promise<void> => {
    const name = basename(stored.name);
    if (!otherFiles.has(name)) throw mismatch(`has a file that is not planned (${name})`);
    const target = join(folder, name);
    await rename(path, target);
    if (isOtherFile(stored)) return;
    const isStream = outputs.some(({ index, type }) => index === stored.output && type === "httpstream");
    audio.push({ output: stored.output, endMs: await audioEndMs(target, isStream, deps) });
  };
  const onChunk = (stored: ScratchTrack, path: string): Promise<void> => {
    const planned = plannedOf.get(stored);
    return planned ? appendChunk(stored, planned, path) : moveFile(stored, path);
  };

  try {
    await fetchAll(work, { plannedOf, onChunk }, deps);
  } finally {
    await Promise.all([...joined.values()].map((track) => track.close()));
  }
  return { chunks, audio, qualities };
}

type Taking = {
  /** The plans of the fetched tracks, without audio and other files. */
  readonly plannedOf: Map<ScratchTrack, ChunkTrack>;
  readonly onChunk: (stored: ScratchTrack, path: string) => Promise<void>;
};

/** Fetches the chunks as they become available. The audio and the other files come with the first chunk. */
async function fetchAll(work: TracksWork, { plannedOf, onChunk }: Taking, deps: TaskDeps): Promise<void> {
  const { task, outputs, chunkFolder: folder } = work;
  deps.progress("transferring", 0);
  let others: readonly ScratchTrack[] = task.audio.filter((stored) =>
    outputs.some(({ index }) => index === stored.output),
  );
  let done = 0;
  for await (const some of work.chunks) {
    const video = some.flatMap((chunk) => storedTracks(chunk, task, outputs));
    for (const { scratch, planned } of video) plannedOf.set(scratch, planned);
    const chunks = [...others, ...video.map(({ scratch }) => scratch)];
    const totalBytes = chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const before = done;
    const onBytes = (bytes: number): void =>
      deps.progress("transferring", (before + (some.length * bytes) / totalBytes) / task.chunks.length);
    const fetching = { chunks, folder, onChunk, onBytes };
    await deps.trace.step("fetch", () => fetchChunks(fetching, deps), { "copra.bytes": totalBytes });
    if (done === 0) work.onBegun();
    others = [];
    done += some.length;
  }
}

/** The audio of streams is fragmented, on the timeline of their segments. */
async function audioEndMs(path: string, isStream: boolean, deps: TaskDeps): Promise<number> {
  if (isStream) return endMs(await readChunkFacts(path, "audio"));
  const { format } = await probeResult(path, deps);
  return (Number(format.start_time ?? 0) + Number(format.duration ?? 0)) * 1000;
}

/** The end of a track on the timeline of segments, converted to the source's timeline. */
export const endMs = ({ end, timescale }: Pick<ChunkFacts, "end" | "timescale">): number =>
  (end / timescale - STREAM_START_SECONDS) * 1000;

/** Throws AppError `chunk_mismatch` when the number of frames of a chunk differs from the report or the plan. */
export function checkFrames({ frames: reported }: ScratchTrack, { frames }: ChunkTrack, facts: ChunkFacts): void {
  if (facts.frames === reported && (frames === null || frames === facts.frames)) return;
  throw mismatch(`has ${facts.frames} frames instead of ${frames ?? reported}`);
}

const mismatch = (problem: string): AppError => new AppError("chunk_mismatch", `A chunk of the video ${problem}.`);

/**
 * Returns the names of the audio and of other files that are not made in chunks. The node that made these files chose
 * the names before it was known which variants are dropped.
 */
function plannedFiles({ probe }: JoinTask, outputs: readonly OutputSpec[]): ReadonlySet<string> {
  if (outputs.length === 0) return new Set();
  const whole = outputs.map((spec) => (spec.type === "httpstream" ? { ...spec, dropped: [] } : spec));
  const { command } = planAudio({ source: "", probe, outputs: whole, capabilities: ALL_SOFTWARE });
  return new Set([...(command?.tracks ?? []), ...(command?.files ?? [])].map(({ file }) => file));
}

/** Returns the tracks that a chunk must have. Plans depend only on the outputs, not on the node that encoded them. */
function storedTracks(
  { range, tracks }: JoinChunk,
  { probe }: JoinTask,
  outputs: readonly OutputSpec[],
): StoredChunk[] {
  if (outputs.length === 0) return [];
  const { command } = planChunk({ source: "", probe, outputs, capabilities: ALL_SOFTWARE, chunk: range });
  return (command?.tracks ?? []).map((planned) => {
    const scratch = tracks.find(({ output, track }) => output === planned.output && track === planned.track);
    if (!scratch) throw mismatch(`has no track \`${planned.track}\``);
    return { scratch, planned };
  });
}
