// Which objects of the job's scratch folder a grant may write and read.
import { AppError } from "#shared/errors.ts";
import type { ScratchAnswer, ScratchRequest } from "#shared/protocol/protocol.ts";
import { MAX_SCRATCH_BYTES, type ScratchStore } from "../../storage/scratch/scratch.ts";
import { activeWork, grantFolder, tracksOf } from "../chunks/chunk-work.ts";
import type { JobState, TaskState } from "../state/job-state.ts";

/**
 * Signs what was asked for. Throws AppError(report_not_valid) when the task may not write or read an object: it may write
 * into a folder of its own, and read what it was told of.
 */
export async function grantScratch(
  state: JobState,
  task: TaskState,
  { puts, gets }: Pick<ScratchRequest, "puts" | "gets">,
  store: ScratchStore,
): Promise<ScratchAnswer> {
  for (const { name, sizeBytes } of puts) {
    const isOwn = task.kind !== "encode" && state.scratch.isUsed && name.startsWith(grantFolder(task));
    if (!isOwn) throw new AppError("report_not_valid", `The task may not write ${name}`);
    if (sizeBytes > MAX_SCRATCH_BYTES) throw new AppError("report_not_valid", `${name} is too large for one upload`);
  }
  const told = gets.length > 0 ? toldOf(state, task) : new Set();
  const stranger = gets.find((name) => !told.has(name));
  if (stranger !== undefined) throw new AppError("report_not_valid", `The task may not read ${stranger}`);
  return {
    puts: await Promise.all(puts.map(({ name, sizeBytes }) => store.put(name, sizeBytes))),
    gets: await Promise.all(gets.map((name) => store.get(name))),
  };
}

/** The objects that the task speaks of. */
function toldOf(state: JobState, task: TaskState): ReadonlySet<string> {
  const work = activeWork(state);
  if (!work) return new Set();
  if (task.kind === "chunk" || task.kind === "sound") {
    return new Set(work.source.from === "scratch" ? work.source.pieces.map(({ name }) => name) : []);
  }
  if (task.kind !== "join") return new Set();
  const chunks = Object.values(state.chunkResults).flatMap((result) => tracksOf(work, result, task.outputs));
  return new Set([...chunks, ...(work.sound ?? [])].map(({ name }) => name));
}
