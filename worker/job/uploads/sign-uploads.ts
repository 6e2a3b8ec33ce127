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
import { fileToStore, isFileOf, isRecorded, objectOf } from "./job-files.ts";

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
   * `multipart`: recorded as soon as its id is known, and from then on completed or aborted whatever happens; if the id
   * is lost before that, the bucket's lifecycle rules remove the upload (docs/storage.md). `single`: recorded; one
   * request stores it. `unrecorded`: one request stores it.
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
  const uploads: { target: Target; uploadId: string | null }[] = [];
  for (const target of files.map((file) => targetOf(state, proof, file))) {
    const upload = target.kind === "unrecorded" ? { uploadId: null } : await beginUpload(proof, target, deps);
    if (!upload) return null;
    uploads.push({ target, uploadId: upload.uploadId });
  }
  const tickets = uploads.map(async ({ target, uploadId }) => {
    const { output, file } = target.file;
    return { output, file, parts: await deps.store.sign(target.stored, uploadId, { lease: proof.lease, output }) };
  });
  return Promise.all(tickets);
}

function targetOf(state: JobState, proof: LeaseProof, file: RequestedFile): Target {
  const spec = state.spec.outputs[file.output];
  const { task } = checkLease(state, proof);
  const isOwn = task && remainingOutputs(state, task).includes(file.output);
  if (!spec || !isOwn || !isFileOf(state, file, proof.lease)) {
    throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
  }
  const recorded = spec.type === "httpstream" ? "single" : "multipart";
  return { file, stored: fileToStore(state, file), kind: isRecorded(spec, file.file) ? recorded : "unrecorded" };
}

/** The recorded upload of one file; null when the lease is no longer valid. */
async function beginUpload(
  proof: LeaseProof,
  { file, stored, kind }: Target,
  { store, ...deps }: UploadDeps,
): Promise<SignedUpload | null> {
  const { objectName } = stored;
  const recorded = (): SignedUpload | undefined => {
    const upload = checkLease(deps.state(), proof).task?.uploads[uploadKey(file)];
    return upload?.sizeBytes === file.sizeBytes ? upload : undefined;
  };
  const known = recorded();
  if (known) return known;
  const uploadId = kind === "multipart" ? await store.begin(stored) : null;
  const state = deps.state();
  const { verdict, task } = checkLease(state, proof);
  const first = recorded();
  if (verdict === "current" && task && !first) {
    const partCount = uploadId === null ? 1 : store.partSizes(file.sizeBytes).length;
    deps.save(recordUpload(state, task.id, file, { sizeBytes: file.sizeBytes, partCount, uploadId }));
    return recorded() ?? null;
  }
  if (uploadId !== null) deps.save({ ...state, orphans: [...state.orphans, { objectName, uploadId }] });
  return verdict === "current" && first ? first : null;
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
