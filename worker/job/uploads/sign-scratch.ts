// Objects of the job's scratch folder that a lease may write and read.
import { AppError } from "#shared/errors.ts";
import type { ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import { MAX_SCRATCH_BYTES, type ScratchStore } from "../../storage/s3/scratch.ts";
import { activeWork, attemptFolder, isChunkedTask, tracksOf } from "../chunks/chunk-work.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";

/**
 * Signs the requested objects. A task may write into the folder of its attempt, and read the objects that its
 * assignment names. Throws AppError(report_not_valid) for other objects.
 */
export async function signScratch(
  state: JobState,
  task: TaskState,
  { puts, gets }: Pick<ScratchRequest, "puts" | "gets">,
  store: ScratchStore,
): Promise<ScratchAnswer> {
  for (const { name, sizeBytes } of puts) {
    const isOwn = task.kind !== "encode" && state.scratch.isUsed && name.startsWith(attemptFolder(task));
    if (!isOwn) throw new AppError("report_not_valid", `The task may not write ${name}`);
    if (sizeBytes > MAX_SCRATCH_BYTES) throw new AppError("report_not_valid", `${name} is too large for one upload`);
  }
  const readable = gets.length > 0 ? readableObjects(state, task) : new Set();
  const forbidden = gets.find((name) => !readable.has(name));
  if (forbidden !== undefined) throw new AppError("report_not_valid", `The task may not read ${forbidden}`);
  return {
    puts: await Promise.all(puts.map(({ name, sizeBytes }) => store.put(name, sizeBytes))),
    gets: await Promise.all(gets.map((name) => store.get(name))),
  };
}

/** The objects that the task's assignment names. */
function readableObjects(state: JobState, task: TaskState): ReadonlySet<string> {
  const work = activeWork(state);
  if (!work) return new Set();
  const texts = work.texts ?? [];
  if (task.kind === "join") {
    const chunks = Object.values(state.chunkResults).flatMap((result) => tracksOf(work, result, task.outputs));
    return new Set([...chunks, ...(work.audio ?? []), ...texts].map(({ name }) => name));
  }
  if (!isChunkedTask(task)) return new Set();
  const pieces = work.source.from === "scratch" ? work.source.pieces : [];
  return new Set([...pieces, ...texts].map(({ name }) => name));
}
