// Signed uploads for the files of a grant: where each goes, in which parts.
import { AppError } from "#shared/errors.ts";
import { contentTypeOf } from "#shared/object-name.ts";
import type { LeaseProof, UploadsRequest, UploadTicket } from "#shared/protocol.ts";
import { type Bucket, beginMultipart, partSizes, signParts } from "../storage/s3.ts";
import { fileCount, objectOf, uploadKey } from "./job-files.ts";
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
type Target = { file: FileToGrant; objectName: string; contentType: string; sizes: readonly number[] };

/**
 * Signs the uploads of the files asked for, or answers null when the lease is no longer good. Each multipart upload is
 * on record as soon as it has begun, so that whatever happens it is completed or aborted; of two that were begun for
 * one file by requests that crossed, the first on record counts. Throws AppError(report_not_valid | storage_*).
 */
export async function grantUploads(
  bucket: Bucket,
  proof: LeaseProof,
  files: readonly FileToGrant[],
  deps: GrantDeps,
): Promise<UploadTicket[] | null> {
  const targets = files.map((file) => targetOf(deps.state(), proof, file));
  const tickets: UploadTicket[] = [];
  for (const target of targets) {
    const upload = await grantUpload(bucket, proof, target, deps);
    if (!upload) return null;
    const { file, objectName, contentType, sizes } = target;
    const parts = await signParts(bucket, objectName, contentType, sizes, upload.uploadId);
    tickets.push({ output: file.output, ordinal: file.ordinal, parts });
  }
  return tickets;
}

function targetOf(state: JobState, proof: LeaseProof, file: FileToGrant): Target {
  const spec = state.spec.outputs[file.output];
  const { task } = judge(state, proof);
  if (!spec || !task?.outputs.includes(file.output) || file.ordinal > fileCount(spec)) {
    throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
  }
  const sizes = partSizes(file.sizeBytes);
  return { file, objectName: objectOf(state, file), contentType: contentTypeOf(spec), sizes };
}

/** The upload of one file, on record; null when the lease is no longer good. */
async function grantUpload(
  bucket: Bucket,
  proof: LeaseProof,
  { file, objectName, contentType, sizes }: Target,
  deps: GrantDeps,
): Promise<GrantedUpload | null> {
  const granted = (): GrantedUpload | undefined => {
    const upload = judge(deps.state(), proof).task?.uploads[uploadKey(file)];
    return upload?.sizeBytes === file.sizeBytes ? upload : undefined;
  };
  const known = granted();
  if (known) return known;
  const uploadId = sizes.length === 1 ? null : await beginMultipart(bucket, objectName, contentType);
  const state = deps.state();
  const { verdict, task } = judge(state, proof);
  const first = granted();
  if (verdict === "current" && task && !first) {
    const upload = { sizeBytes: file.sizeBytes, partCount: sizes.length, uploadId };
    deps.save(recordUpload(state, task.id, file, upload));
    return upload;
  }
  if (uploadId !== null) deps.save({ ...state, orphans: [...state.orphans, { objectName, uploadId }] });
  return verdict === "current" && first ? first : null;
}
