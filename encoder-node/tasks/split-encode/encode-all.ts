// Encodes all chunks of a video and its audio, several at the same time, and joins the chunks in one folder.
import { AppError } from "#shared/errors.ts";
import { planAudio } from "#shared/plan/plan-audio.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import { mapLimitedOrAbort } from "../../async/in-parallel.ts";
import type { RunFiles } from "../../run-files/run-files.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { type ChunkWork, encodeChunk } from "../chunk/chunk.ts";
import { runAll } from "../encode/run-planned.ts";
import { openOrderedJoin } from "./join-in-order.ts";
import { createSplitProgress } from "./split-progress.ts";

export type SplitWork = {
  readonly request: Omit<ChunkWork, "chunk">;
  readonly chunks: readonly ChunkSpan[];
  /** How many chunks are encoded at a time; the audio beside them. */
  readonly runs: number;
  /** Where the joined tracks and the audio are written, with their planned names. They only grow. */
  readonly files: RunFiles;
  /** Where chunks are kept until they are joined. */
  readonly chunkFolder: string;
};

/** Throws AppError when a chunk or the audio cannot be made or is not as planned, and the signal's reason. */
export async function encodeAll(
  { request, chunks, runs, files, chunkFolder }: SplitWork,
  deps: TaskDeps,
): Promise<void> {
  const joined = openOrderedJoin(files.folder);
  const progress = createSplitProgress(
    chunks.map(({ frames }) => frames),
    (fraction, rate) => deps.progress("encoding", fraction, rate),
  );
  const encode = async (chunk: ChunkSpan, signal: AbortSignal): Promise<void> => {
    const onProgress: TaskDeps["progress"] = (_stage, fraction, rate) => progress.update(chunk.index, fraction, rate);
    const chunkDeps = { ...deps, signal, reads: [request.source], progress: onProgress };
    const { tracks } = await encodeChunk({ ...request, chunk }, null, chunkFolder, chunkDeps);
    progress.update(chunk.index, 1);
    joined.add(chunk.index, tracks);
  };
  const video = async (signal: AbortSignal): Promise<void> => {
    await mapLimitedOrAbort(chunks, runs, signal, (chunk, _at, own) => encode(chunk, own));
  };
  const audio = (signal: AbortSignal): Promise<void> => encodeAudio(request, files, { ...deps, signal });
  try {
    await mapLimitedOrAbort([audio, video], 2, deps.signal, (part, _at, signal) => part(signal));
    await joined.finish();
  } finally {
    await joined.close();
  }
}

async function encodeAudio(request: SplitWork["request"], files: RunFiles, deps: TaskDeps): Promise<void> {
  const { command, failures } = planAudio({ ...request, capabilities: deps.capabilities });
  if (failures[0]) throw AppError.from(failures[0].failure);
  const failed = await runAll(command?.runs ?? [], files, () => undefined, { ...deps, reads: [request.source] });
  deps.signal.throwIfAborted();
  if (failed) throw AppError.from(failed.failure);
}
