// Signed uploads: a node stores the files of an output without a storage key.
import * as z from "zod";
import { MAX_ETAG_CHARS, MAX_FILE_BYTES, MAX_FILE_NUMBER, MAX_OUTPUT_INDEX, MAX_PARTS } from "../report-limits.ts";
import { LeaseProof } from "./leases.ts";
import { FailureReport, Line } from "./reported-text.ts";

/**
 * Name of a file within an output and a lease: its number, from 1. A stream has thousands of files, so its files are
 * named by their package and the path below the package's folder. Examples: `dash/master.mpd`, `hls/<stream
 * folder>/1080p/00001.ts` (job/stream-files.ts).
 */
export const FileName = z.union([z.int().min(1).max(MAX_FILE_NUMBER), Line(300).min(1)]);
export type FileName = z.infer<typeof FileName>;

/** `OutputSpec.index`. */
export const OutputIndex = z.int().min(0).max(MAX_OUTPUT_INDEX);
const FileSize = z.int().min(0).max(MAX_FILE_BYTES);
const fileOfOutput = { output: OutputIndex, file: FileName };

/** Maximum number of parts of an upload that starts before its file is complete: the limit of R2 and S3. */
export const MAX_EARLY_PARTS = 10_000;

/**
 * Parts of a file whose upload starts before the file is complete. `sizeBytes` is 0 until the size is known. The first
 * request of a lease for a file starts the upload; later requests continue it. Older control planes ignore this.
 */
export const EarlyParts = z.object({
  /** Expected size of the file. In the first request, it decides the size of all parts except the last. */
  expectedBytes: z.int().min(1).max(MAX_FILE_BYTES),
  /** The parts to sign, from 0. */
  parts: z
    .array(
      z
        .int()
        .min(0)
        .max(MAX_EARLY_PARTS - 1),
    )
    .min(1)
    .max(100),
});
export type EarlyParts = z.infer<typeof EarlyParts>;

export const UploadsRequest = z.object({
  token: LeaseProof.shape.token,
  files: z
    .array(
      z.object({
        ...fileOfOutput,
        sizeBytes: FileSize,
        /** A playlist of a stream that is still encoded. A newer version follows under the same name. */
        growing: z.boolean().exactOptional(),
        early: EarlyParts.exactOptional(),
      }),
    )
    .min(1)
    .max(200),
});
export type UploadsRequest = z.infer<typeof UploadsRequest>;

const MAX_FORM_FIELDS = 10;
const MAX_FORM_VALUE = 300;

/** A multipart/form-data body: the field with the file, and plain fields, which are sent before the file. */
export const UploadForm = z.object({
  name: z.string(),
  fileName: z.string(),
  contentType: z.string(),
  fields: z.array(z.object({ name: z.string().max(100), value: z.string().max(MAX_FORM_VALUE) })).max(MAX_FORM_FIELDS),
});
export type UploadForm = z.infer<typeof UploadForm>;

/**
 * A signed request that stores a byte range of the file: a PUT of the bytes, or a POST of a form that contains them.
 */
export const UploadPart = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  offset: z.int().min(0),
  sizeBytes: z.int().min(0),
  form: UploadForm.optional(),
});
export type UploadPart = z.infer<typeof UploadPart>;

/** The signed requests for a file. The control plane completes uploads with several parts. */
export const UploadTicket = z.object({
  ...fileOfOutput,
  parts: z.array(UploadPart).min(1),
  /**
   * In reply to `early`: the size of all parts except the file's last. `parts` contains the requested parts. Absent if
   * the storage or the control plane does not support early parts: the node then uploads the file as a whole.
   */
  partBytes: z.int().min(1).exactOptional(),
});
export type UploadTicket = z.infer<typeof UploadTicket>;

/** The tickets, or the reason why the storage cannot be written to. The failure fails the requested outputs. */
export const UploadsAnswer = z.union([
  z.object({ uploads: z.array(UploadTicket) }),
  z.object({ failure: FailureReport }),
]);
export type UploadsAnswer = z.infer<typeof UploadsAnswer>;

/** A stored file, with the ETag that the storage returned for each part. */
export const UploadedFile = z.object({
  ...fileOfOutput,
  sizeBytes: FileSize,
  etags: z.array(Line(MAX_ETAG_CHARS)).min(1).max(MAX_PARTS),
});
export type UploadedFile = z.infer<typeof UploadedFile>;
