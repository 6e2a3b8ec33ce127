// Signed uploads for the files of a grant: where each goes, in which parts.
import { AppError } from "#shared/errors.ts";
import type { LeaseProof, UploadsRequest, UploadTicket } from "#shared/protocol.ts";
import type { FileToStore, ObjectStore } from "../storage/object-store.ts";
import { fileCount, fileToStore, uploadKey } from "./job-files.ts";
import type { GrantedUpload, JobState } from "./job-state.ts";
import { judge } from "./leases.ts";
import { recordUpload } from "./reports.ts";

/** The job's state as it is by now, and where to put what changes it. */
export interface GrantDeps {
  state(): JobState;
  save(state: JobState): void;
}

type FileToGrant = UploadsRequest["files"][number];
/** A file and the object that it is to become. */
type Target = { file: FileToGrant; stored: FileToStore };

/**
 * Signs the uploads of the files asked for, or answers null when the lease is no longer good. Each multipart upload is
 * on record as soon as it has begun, so that whatever happens it is completed or aborted; of two that were begun for
 * one file by requests that crossed, the first on record counts. Throws AppError(report_not_valid | storage_*).
 */
export async function grantUploads(
  store: ObjectStore,
  proof: LeaseProof,
  files: readonly FileToGrant[],
  deps: GrantDeps,
): Promise<UploadTicket[] | null> {
  const targets = files.map((file) => targetOf(deps.state(), proof, file));
  const tickets: UploadTicket[] = [];
  for (const target of targets) {
    const upload = await grantUpload(store, proof, target, deps);
    if (!upload) return null;
    const { file, stored } = target;
    const parts = await store.sign(stored, upload.uploadId);
    tickets.push({ output: file.output, ordinal: file.ordinal, parts });
  }
  return tickets;
}

function targetOf(state: JobState, proof: LeaseProof, file: FileToGrant): Target {
  const spec = state.spec.outputs[file.output];
  const { task } = judge(state, proof);
  if (!spec || !task?.outputs.includes(file.output) || file.ordinal > fileCount(spec, state.input.probe)) {
    throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
  }
  return { file, stored: fileToStore(state, file) };
}

/** The upload of one file, on record; null when the lease is no longer good. */
async function grantUpload(
  store: ObjectStore,
  proof: LeaseProof,
  { file, stored }: Target,
  deps: GrantDeps,
): Promise<GrantedUpload | null> {
  const granted = (): GrantedUpload | undefined => {
    const upload = judge(deps.state(), proof).task?.uploads[uploadKey(file)];
    return upload?.sizeBytes === file.sizeBytes ? upload : undefined;
  };
  const known = granted();
  if (known) return known;
  const uploadId = await store.begin(stored);
  const state = deps.state();
  const { verdict, task } = judge(state, proof);
  const first = granted();
  if (verdict === "current" && task && !first) {
    const upload = { sizeBytes: file.sizeBytes, partCount: store.partSizes(file.sizeBytes).length, uploadId };
    deps.save(recordUpload(state, task.id, file, upload));
    return upload;
  }
  const { objectName } = stored;
  if (uploadId !== null) deps.save({ ...state, orphans: [...state.orphans, { objectName, uploadId }] });
  return verdict === "current" && first ? first : null;
}
