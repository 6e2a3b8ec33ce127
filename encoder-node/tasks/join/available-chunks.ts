// The chunks of a join in time order, as they become available. A stream that is played while it is encoded is joined
// from its first chunk on.
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "#shared/errors.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

export type JoinTask = TaskOf<"join">;
export type JoinChunk = JoinTask["chunks"][number];

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
