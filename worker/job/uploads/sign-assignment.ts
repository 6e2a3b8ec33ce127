// Signs the scratch objects of a task with its assignment, so that a chunk needs no further request.
import { parseLeaseId } from "#shared/ids.ts";
import type { SignedScratch } from "#shared/protocol/scratch.ts";
import type { Assignment, Task } from "#shared/protocol/tasks.ts";
import type { Settings } from "../../settings.ts";
import { openScratch, type ScratchStore } from "../../storage/s3/scratch.ts";
import { attemptFolder } from "../chunks/chunk-work.ts";
import { taskOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";

/** Signatures cost time. If a source or an output has more objects than this, the node requests them. */
const MAX_SIGNED = 32;

/** The assignment with signed URLs, if its task needs few of them. */
export async function withSigned(state: JobState, given: Assignment, settings: Settings): Promise<Assignment> {
  const { task, lease } = given;
  if (!settings.scratch || task.kind !== "chunk") return given;
  const store = openScratch(settings.scratch, state.spec.id, state.scratch.folder);
  const folder = attemptFolder(taskOf(state, parseLeaseId(lease)?.task ?? ""));
  const signed = await signChunk(task, folder, store);
  return { ...given, task: { ...task, signed } };
}

async function signChunk(
  { source, outputs, texts = [] }: Extract<Task, { kind: "chunk" }>,
  folder: string,
  store: ScratchStore,
): Promise<SignedScratch> {
  const pieces = source.from === "scratch" && source.pieces.length <= MAX_SIGNED ? source.pieces : [];
  const tracks = outputs.reduce((sum, spec) => sum + (spec.type === "httpstream" ? spec.variants.length : 1), 0);
  const names = Array.from({ length: Math.min(tracks, MAX_SIGNED) }, (_, at) => `${folder}track-${at}.mp4`);
  const [puts, gets] = await Promise.all([
    Promise.all(names.map(async (name) => ({ name, url: await store.putAny(name) }))),
    Promise.all(
      [...pieces, ...texts.slice(0, MAX_SIGNED)].map(async ({ name }) => ({ name, url: await store.get(name) })),
    ),
  ]);
  return { puts, gets };
}
