// What a job makes of the trial of its storage, which runs beside the inspection. Pure: (state, …) → next state.
import type { Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { contentTypeOf, objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { slotClassOf } from "#shared/protocol/protocol.ts";
import type { FileToStore } from "../../storage/object-store.ts";
import { abandonTasks, bump, demand, failOutput } from "../state/job-moves.ts";
import type { JobState, MultipartUpload, TaskState } from "../state/job-state.ts";
import { endIfDone } from "./job-ending.ts";

/** When a task may be given to a node: encoding waits for the storage's trial, which is soon over in any case. */
export const startOf = ({ storageCheck }: JobState, task: TaskState): number =>
  storageCheck && slotClassOf(task) === "encode" ? Math.max(task.notBefore, storageCheck.until) : task.notBefore;

/** A file of the first output, by which the storage is tried; null when there is none. */
export function trialFile({ spec }: JobState): FileToStore | null {
  const [output] = spec.outputs;
  if (!output) return null;
  const name = output.type === "httpstream" ? playlistsOf(output)[0]?.path : objectName(output.path, 1);
  if (name === undefined) return null;
  const { key, type } = output;
  const contentType = contentTypeOf(output, name);
  return { objectName: name, contentType, cacheControl: null, sizeBytes: 0, output: { key, type } };
}

/** The trial is over: encoding may begin. An upload that was begun for it is aborted. */
export function storageTried(state: JobState, begun: MultipartUpload | null): JobState {
  const orphans = begun ? [...state.orphans, begun] : state.orphans;
  return demand({ ...state, storageCheck: null, orphans }, "encode");
}

/** The storage takes nothing: all outputs that have not ended fail at once, and nothing is encoded any more. */
export function storageRefused(state: JobState, failure: Failure, now: number): JobState {
  const tried: JobState = { ...state, storageCheck: null };
  if (isTerminalJob(state.status)) return tried;
  let next = abandonTasks(tried);
  for (const [index, { phase }] of state.outputs.entries()) {
    if (!isTerminalOutput(phase)) next = failOutput(next, index, failure, now);
  }
  return endIfDone(bump(next), now);
}
