// Signed uploads for the files of a grant: where each goes, in which parts.
import { AppError, assertNever } from "#shared/errors.ts";
import { contentTypeOf, objectName } from "#shared/object-name.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import type { UploadsRequest, UploadTicket } from "#shared/protocol.ts";
import { type Bucket, beginMultipart, partSizes, signParts } from "../storage/s3.ts";
import { uploadKey } from "./job-moves.ts";
import type { GrantedUpload } from "./job-state.ts";

export type GrantedFile = { upload: GrantedUpload; ticket: UploadTicket };

/** Files that an output may consist of. */
function fileCount(output: OutputSpec): number {
  switch (output.type) {
    case "video":
      return 1;
    case "image":
      return output.number;
    default:
      return assertNever(output);
  }
}

/**
 * Signs the uploads of the files asked for, beginning multipart ones at the storage; keyed by `<output>/<ordinal>`.
 * A file that was granted before keeps its multipart upload. Throws AppError(report_not_valid | storage_*).
 */
export async function grantUploads(
  bucket: Bucket,
  outputs: readonly OutputSpec[],
  files: UploadsRequest["files"],
  granted: Readonly<Record<string, GrantedUpload>>,
): Promise<Record<string, GrantedFile>> {
  const grants: Record<string, GrantedFile> = {};
  for (const file of files) {
    const output = outputs.find(({ index }) => index === file.output);
    if (!output || file.ordinal > fileCount(output)) {
      throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
    }
    const name = objectName(output.path, file.ordinal);
    const type = contentTypeOf(output);
    const sizes = partSizes(file.sizeBytes);
    const before = granted[uploadKey(file)];
    const known = before?.sizeBytes === file.sizeBytes ? before.uploadId : null;
    const uploadId = sizes.length === 1 ? null : (known ?? (await beginMultipart(bucket, name, type)));
    const parts = await signParts(bucket, name, type, sizes, uploadId);
    grants[uploadKey(file)] = {
      upload: { objectName: name, sizeBytes: file.sizeBytes, partCount: parts.length, uploadId },
      ticket: { output: file.output, ordinal: file.ordinal, parts },
    };
  }
  return grants;
}
