// Signed uploads for the files of a lease.
import { AppError } from "#shared/errors.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { UploadsRequest, UploadTicket } from "#shared/protocol/uploads.ts";
import type { FileToStore, ObjectStore } from "../../storage/object-store.ts";
import { earlyPartBytes } from "../../storage/upload-limits.ts";
import { checkLease } from "../state/check-lease.ts";
import { patchTask, taskOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { remainingOutputs } from "../state/remaining-outputs.ts";
import { type NamedFile, type SignedUpload, uploadKey } from "../state/task-state.ts";
import { mayBeginEarly, recordedUpload, requestedPlaces, withSize } from "./early-uploads.ts";
import { fileToStore, isFileOf, isGrowing, isRecorded, objectOf } from "./job-files.ts";

export interface UploadDeps {
  readonly store: ObjectStore;
  /** The job's current state. */
  state(): JobState;
  save(state: JobState): void;
}

type RequestedFile = UploadsRequest["files"][number];
type SignedTarget = Pick<SignedUpload, "uploadId" | "partBytes"> & { readonly target: Target };
/** A file and its object. */
type Target = {
  readonly file: RequestedFile;
  readonly stored: FileToStore;
  /**
   * `multipart`: recorded after all uploads of the request have started, and then always completed or aborted. If its
   * id is lost before that, the bucket's lifecycle rules remove the upload (docs/storage.md). `single`: recorded; a
   * single request stores it. `unrecorded`: a single request stores it.
   */
  readonly kind: "multipart" | "single" | "unrecorded";
};

/**
 * Signs the uploads of the requested files. Null if the lease is no longer valid. If two concurrent requests start an
 * upload of the same file, the first recorded upload counts. Throws AppError(report_not_valid | storage_*).
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
  const uploads = targets.map((target): SignedTarget | null => {
    if (target.kind === "unrecorded") return { target, uploadId: null };
    const upload = recordedUpload(deps.state(), proof, target.file);
    if (!upload) return null;
    const { uploadId, partBytes } = upload;
    return { target, uploadId, ...(partBytes === undefined ? {} : { partBytes }) };
  });
  const tickets = uploads.map(async (upload) => {
    if (!upload) return null;
    const { target, uploadId, partBytes } = upload;
    const { output, file } = target.file;
    const places = partBytes === undefined ? undefined : requestedPlaces(partBytes, target.file);
    const parts = await deps.store.sign(target.stored, uploadId, { lease: proof.lease, output }, places);
    return { output, file, parts, ...(partBytes === undefined ? {} : { partBytes }) };
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
  if (file.early && !mayBeginEarly(spec)) {
    throw new AppError("report_not_valid", `The upload of ${uploadKey(file)} cannot start early`);
  }
  const recorded = spec.type === "httpstream" ? "single" : "multipart";
  const kind = isRecorded(spec, file.file) && !isGrowing(spec, file) ? recorded : "unrecorded";
  return { file, stored: fileToStore(state, file), kind };
}

/**
 * Records the new uploads with a single save: each save costs a row, and a request names up to 200 files. Uploads that
 * were started before an error are recorded, too. Returns false if the lease is no longer valid.
 */
async function recordUploads(proof: LeaseProof, targets: readonly Target[], deps: UploadDeps): Promise<boolean> {
  const { store } = deps;
  const startedUploads: { target: Target; uploadId: string | null }[] = [];
  try {
    for (const target of targets) {
      if (target.kind === "unrecorded" || recordedUpload(deps.state(), proof, target.file)) continue;
      if (checkLease(deps.state(), proof).verdict !== "current") break;
      const isMultipart = target.kind === "multipart";
      const uploadId = isMultipart ? await store.begin(target.stored, target.file.early !== undefined) : null;
      startedUploads.push({ target, uploadId });
    }
  } finally {
    const before = deps.state();
    let after = before;
    for (const { target, uploadId } of startedUploads) {
      const { file, stored } = target;
      const { verdict, task } = checkLease(after, proof);
      if (verdict === "current" && task && !recordedUpload(after, proof, file)) {
        after = recordUpload(after, task.id, file, begunUpload(file, uploadId, store));
      } else if (uploadId !== null) {
        after = { ...after, orphans: [...after.orphans, { objectName: stored.objectName, uploadId }] };
      }
    }
    for (const { file } of targets) after = withSize(after, proof, file);
    if (after !== before) deps.save(after);
  }
  return checkLease(deps.state(), proof).verdict === "current";
}

type NewUpload = Pick<SignedUpload, "sizeBytes" | "partCount" | "uploadId" | "partBytes">;

function begunUpload({ sizeBytes, early }: RequestedFile, uploadId: string | null, store: ObjectStore): NewUpload {
  if (uploadId === null) return { sizeBytes, partCount: 1, uploadId };
  // `withSize` adds the size of an upload that starts early with a file of known size.
  if (early) return { sizeBytes: 0, partCount: 0, uploadId, partBytes: earlyPartBytes(early.expectedBytes) };
  return { sizeBytes, partCount: store.partSizes(sizeBytes).length, uploadId };
}

/** Records an upload before the node receives it. A replaced upload of another size is aborted. */
export function recordUpload(state: JobState, taskId: string, file: NamedFile, upload: NewUpload): JobState {
  const { uploads } = taskOf(state, taskId);
  const signed: SignedUpload = { ...upload, output: file.output, objectName: objectOf(state, file) };
  const replaced = uploads[uploadKey(file)];
  const orphans = replaced?.uploadId
    ? [...state.orphans, { objectName: replaced.objectName, uploadId: replaced.uploadId }]
    : state.orphans;
  return patchTask({ ...state, orphans }, taskId, { uploads: { ...uploads, [uploadKey(file)]: signed } });
}
