// Signed uploads for the files of a lease.
import { AppError } from "#shared/errors.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { UploadsRequest, UploadTicket } from "#shared/protocol/uploads.ts";
import type { FileToStore, ObjectStore } from "../../storage/object-store.ts";
import { checkLease } from "../state/check-lease.ts";
import { patchTask, taskOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { remainingOutputs } from "../state/remaining-outputs.ts";
import { type NamedFile, type SignedUpload, uploadKey } from "../state/task-state.ts";
import { fileToStore, isFileOf, isGrowing, isRecorded, objectOf } from "./job-files.ts";

export interface UploadDeps {
  readonly store: ObjectStore;
  /** The job's current state. */
  state(): JobState;
  save(state: JobState): void;
}

type RequestedFile = UploadsRequest["files"][number];
/** A file and the object that it becomes. */
type Target = {
  readonly file: RequestedFile;
  readonly stored: FileToStore;
  /**
   * `multipart`: recorded when all uploads of the request have begun, and from then on completed or aborted whatever
   * happens; if its id is lost before that, the bucket's lifecycle rules remove the upload (docs/storage.md). `single`:
   * recorded; one request stores it. `unrecorded`: one request stores it.
   */
  readonly kind: "multipart" | "single" | "unrecorded";
};

/**
 * Signs the uploads of the requested files, or returns null when the lease is no longer valid. If two concurrent
 * requests begin an upload of the same file, the first one that is recorded counts. Throws AppError(report_not_valid |
 * storage_*).
 */
export async function signUploads(
  proof: LeaseProof,
  files: readonly RequestedFile[],
  deps: UploadDeps,
): Promise<UploadTicket[] | null> {
  const state = deps.state();
  if (checkLease(state, proof).verdict !== "current") return null;
  const targets = files.map((file) => targetOf(state, proof, file));
  if (!(await recordUploads(proof, targets, deps))) return null;
  const uploads = targets.map((target) => {
    if (target.kind === "unrecorded") return { target, uploadId: null };
    const upload = recordedUpload(deps.state(), proof, target.file);
    return upload && { target, uploadId: upload.uploadId };
  });
  const tickets = uploads.map(async (upload) => {
    if (!upload) return null;
    const { output, file } = upload.target.file;
    const parts = await deps.store.sign(upload.target.stored, upload.uploadId, { lease: proof.lease, output });
    return { output, file, parts };
  });
  const signed = (await Promise.all(tickets)).flatMap((ticket) => ticket ?? []);
  return signed.length === files.length ? signed : null;
}

function targetOf(state: JobState, proof: LeaseProof, file: RequestedFile): Target {
  const spec = state.spec.outputs[file.output];
  const { task } = checkLease(state, proof);
  const isOwn = task && remainingOutputs(state, task).includes(file.output);
  if (!spec || !isOwn || !isFileOf(state, file, proof.lease)) {
    throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
  }
  const recorded = spec.type === "httpstream" ? "single" : "multipart";
  const kind = isRecorded(spec, file.file) && !isGrowing(spec, file) ? recorded : "unrecorded";
  return { file, stored: fileToStore(state, file), kind };
}

const recordedUpload = (state: JobState, proof: LeaseProof, file: RequestedFile): SignedUpload | null => {
  const upload = checkLease(state, proof).task?.uploads[uploadKey(file)];
  return upload?.sizeBytes === file.sizeBytes ? upload : null;
};

/**
 * Records the uploads that are not recorded yet, with one save: each save costs a row, and a request names up to 200
 * files. Uploads that were begun before an error are recorded, too. Returns false when the lease is no longer valid.
 */
async function recordUploads(proof: LeaseProof, targets: readonly Target[], deps: UploadDeps): Promise<boolean> {
  const { store } = deps;
  const begun: { target: Target; uploadId: string | null }[] = [];
  try {
    for (const target of targets) {
      if (target.kind === "unrecorded" || recordedUpload(deps.state(), proof, target.file)) continue;
      if (checkLease(deps.state(), proof).verdict !== "current") break;
      begun.push({ target, uploadId: target.kind === "multipart" ? await store.begin(target.stored) : null });
    }
  } finally {
    const before = deps.state();
    let after = before;
    for (const { target, uploadId } of begun) {
      const { file, stored } = target;
      const { verdict, task } = checkLease(after, proof);
      if (verdict === "current" && task && !recordedUpload(after, proof, file)) {
        const partCount = uploadId === null ? 1 : store.partSizes(file.sizeBytes).length;
        after = recordUpload(after, task.id, file, { sizeBytes: file.sizeBytes, partCount, uploadId });
      } else if (uploadId !== null) {
        after = { ...after, orphans: [...after.orphans, { objectName: stored.objectName, uploadId }] };
      }
    }
    if (after !== before) deps.save(after);
  }
  return checkLease(deps.state(), proof).verdict === "current";
}

/** Records an upload before the node receives it. An upload of another size that it replaces is aborted. */
export function recordUpload(
  state: JobState,
  taskId: string,
  file: NamedFile,
  upload: Pick<SignedUpload, "sizeBytes" | "partCount" | "uploadId">,
): JobState {
  const { uploads } = taskOf(state, taskId);
  const signed: SignedUpload = { ...upload, output: file.output, objectName: objectOf(state, file) };
  const replaced = uploads[uploadKey(file)];
  const orphans = replaced?.uploadId
    ? [...state.orphans, { objectName: replaced.objectName, uploadId: replaced.uploadId }]
    : state.orphans;
  return patchTask({ ...state, orphans }, taskId, { uploads: { ...uploads, [uploadKey(file)]: signed } });
}
