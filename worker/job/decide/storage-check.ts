// Changes of a job by the check of its storage, which runs during the inspection. Pure: (state, …) → next state.
import type { Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { contentTypeOf, objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import { typeOf } from "#shared/job/output-spec.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { slotClassOf } from "#shared/protocol/tasks.ts";
import { awsEndpoint } from "#shared/request/storage/s3-services.ts";
import type { FileToStore } from "../../storage/object-store.ts";
import { abandonTasks, bumpVersion, requestAdvertising } from "../state/job-moves.ts";
import type { JobState, MultipartUpload } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { endsInput, failInput } from "./input-failure.ts";
import { endIfDone, failOutput } from "./job-ending.ts";

/** Earliest start of a task: encoding waits for the storage check, which ends soon in any case. */
export const startOf = ({ storageCheck }: JobState, task: TaskState): number =>
  storageCheck && slotClassOf(task) === "encode" ? Math.max(task.notBefore, storageCheck.until) : task.notBefore;

/** A file of the first output, to check the storage with it; null if there is none. */
export function sampleFile({ spec }: JobState): FileToStore | null {
  const [output] = spec.outputs;
  if (!output) return null;
  const name = output.type === "httpstream" ? playlistsOf(output)[0]?.path : objectName(output.path, 1);
  if (name === undefined) return null;
  const { key } = output;
  const contentType = contentTypeOf(output, name);
  return { objectName: name, contentType, cacheControl: null, sizeBytes: 0, output: { key, type: typeOf(output) } };
}

/** Ends the check: encoding may start. A multipart upload that the check has started is aborted. */
export function storageChecked(state: JobState, upload: MultipartUpload | null): JobState {
  const orphans = upload ? [...state.orphans, upload] : state.orphans;
  return requestAdvertising({ ...state, storageCheck: null, orphans }, "encode");
}

/**
 * Corrects the region of a job's bucket, once. At Amazon S3, each region has its own endpoint. Null if the region was
 * corrected before, or if the storage has none.
 */
export function storageMoved(state: JobState, region: string): JobState | null {
  const { spec, storageCheck } = state;
  const { storage } = spec;
  if (!storageCheck || storageCheck.hasMoved || storage.kind !== "s3") return null;
  const endpoint = storage.endpoint === awsEndpoint(storage.region) ? awsEndpoint(region) : storage.endpoint;
  return {
    ...state,
    spec: { ...spec, storage: { ...storage, region, endpoint } },
    storageCheck: { ...storageCheck, hasMoved: true },
  };
}

/** Ends a job whose account may no longer use a folder of the operator. */
export const folderTaken = (state: JobState, failure: Failure, now: number): JobState =>
  endsInput(failure)
    ? endIfDone(bumpVersion(failInput(state, failure, now)), now)
    : storageRejected(state, failure, now);

/** Handles a storage that rejects uploads: all outputs that have not ended fail at once, and nothing is encoded. */
export function storageRejected(state: JobState, failure: Failure, now: number): JobState {
  const checked: JobState = { ...state, storageCheck: null };
  if (isTerminalJob(state.status)) return checked;
  let next = abandonTasks(checked);
  for (const [index, { phase }] of state.outputs.entries()) {
    if (!isTerminalOutput(phase)) next = failOutput(next, index, failure, now);
  }
  return endIfDone(bumpVersion(next), now);
}
