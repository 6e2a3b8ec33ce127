// Signed uploads for the files of a grant: where each goes, in which parts.
import { AppError } from "#shared/errors.ts";
import { contentTypeOf } from "#shared/object-name.ts";
import type { LeaseProof, UploadsRequest, UploadTicket } from "#shared/protocol.ts";
import { type Bucket, beginMultipart, partSizes, signParts } from "../storage/s3.ts";
import { type FileName, fileCount, objectOf, uploadKey } from "./job-files.ts";
import type { GrantedUpload, JobState } from "./job-state.ts";
import { judge } from "./leases.ts";
import { recordUpload } from "./reports.ts";

/** The job's state as it is by now, and where to put what changes it. */
export interface GrantDeps {
  state(): JobState;
  save(state: JobState): void;
}

type FileToGrant = UploadsRequest["files"][number];

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
  for (const file of files) checkFile(deps.state(), proof, file);
  const tickets: UploadTicket[] = [];
  for (const file of files) {
    const upload = await grantUpload(bucket, proof, file, deps);
    if (!upload) return null;
    const type = contentTypeOf(outputOf(deps.state(), file));
    const parts = await signParts(
      bucket,
      objectOf(deps.state(), file),
      type,
      partSizes(file.sizeBytes),
      upload.uploadId,
    );
    tickets.push({ output: file.output, ordinal: file.ordinal, parts });
  }
  return tickets;
}

function checkFile(state: JobState, proof: LeaseProof, file: FileName): void {
  const spec = state.spec.outputs[file.output];
  const { task } = judge(state, proof);
  if (spec && task?.outputs.includes(file.output) && file.ordinal <= fileCount(spec)) return;
  throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
}

function outputOf(state: JobState, { output }: FileName): JobState["spec"]["outputs"][number] {
  const spec = state.spec.outputs[output];
  if (!spec) throw new AppError("report_not_valid", `The job has no output ${output}`);
  return spec;
}

/** The upload of one file, on record; null when the lease is no longer good. */
async function grantUpload(
  bucket: Bucket,
  proof: LeaseProof,
  file: FileToGrant,
  deps: GrantDeps,
): Promise<GrantedUpload | null> {
  const { sizeBytes } = file;
  const granted = (): GrantedUpload | undefined => {
    const upload = judge(deps.state(), proof).task?.uploads[uploadKey(file)];
    return upload?.sizeBytes === sizeBytes ? upload : undefined;
  };
  const partCount = partSizes(sizeBytes).length;
  const known = granted();
  if (known) return known;
  const objectName = objectOf(deps.state(), file);
  const type = contentTypeOf(outputOf(deps.state(), file));
  const uploadId = partCount === 1 ? null : await beginMultipart(bucket, objectName, type);
  const state = deps.state();
  const { verdict, task } = judge(state, proof);
  const first = granted();
  if (verdict === "current" && task && !first) {
    const upload = { sizeBytes, partCount, uploadId };
    deps.save(recordUpload(state, task.id, file, upload));
    return upload;
  }
  if (uploadId !== null) deps.save({ ...state, orphans: [...state.orphans, { objectName, uploadId }] });
  return verdict === "current" && first ? first : null;
}
