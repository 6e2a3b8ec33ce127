// Signed uploads: how a node stores the files of an output without a storage key.
import * as z from "zod";
import { MAX_ETAG_CHARS, MAX_FILE_BYTES, MAX_FILE_NUMBER, MAX_OUTPUT_INDEX, MAX_PARTS } from "../report-limits.ts";
import { LeaseProof } from "./leases.ts";
import { FailureReport, Line } from "./reported-text.ts";

/**
 * Names a file within one output and one lease: its number, from 1; in a stream, which has thousands of files, its
 * package and its path below the package's folder, such as `dash/master.mpd` or `hls/<stream folder>/1080p/00001.ts`
 * (job/stream-files.ts).
 */
export const FileName = z.union([z.int().min(1).max(MAX_FILE_NUMBER), Line(300).min(1)]);
export type FileName = z.infer<typeof FileName>;

/** `OutputSpec.index`. */
export const OutputIndex = z.int().min(0).max(MAX_OUTPUT_INDEX);
const FileSize = z.int().min(0).max(MAX_FILE_BYTES);
const fileOfOutput = { output: OutputIndex, file: FileName };

/** Parts of one upload that began before its file was complete: what R2 and S3 allow. */
export const MAX_EARLY_PARTS = 10_000;

/**
 * Parts of a file that is still written, or was when its upload began: `sizeBytes` is 0 until its size is known. The
 * first request of a lease for a file begins the upload, later ones continue it. Older control planes ignore this.
 */
export const EarlyParts = z.object({
  /** About how large the file will be. The first request decides the size of all parts but the last by it. */
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
        /** A playlist of a stream that is still encoded: another version of it follows under the same name. */
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

/** A multipart/form-data body: the field that carries the file, and plain fields, which are sent before the file. */
export const UploadForm = z.object({
  name: z.string(),
  fileName: z.string(),
  contentType: z.string(),
  fields: z
    .array(z.object({ name: z.string().max(100), value: z.string().max(MAX_FORM_VALUE) }))
    .max(MAX_FORM_FIELDS)
    .default([]),
});
export type UploadForm = z.infer<typeof UploadForm>;

/**
 * One signed request that stores one byte range of the file: a PUT of the bytes, or a POST of a form that holds them.
 */
export const UploadPart = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  offset: z.int().min(0),
  sizeBytes: z.int().min(0),
  form: UploadForm.optional(),
});
export type UploadPart = z.infer<typeof UploadPart>;

/** The signed requests for one file. The control plane completes uploads that have more than one part. */
export const UploadTicket = z.object({
  ...fileOfOutput,
  parts: z.array(UploadPart).min(1),
  /**
   * In reply to `early`: `parts` are the requested ones, and all but the last of the file have this size. Absent if the
   * storage or the control plane cannot do that: the file is then to be uploaded as a whole.
   */
  partBytes: z.int().min(1).exactOptional(),
});
export type UploadTicket = z.infer<typeof UploadTicket>;

/** The tickets, or why the storage cannot be written to, which fails the outputs that were requested. */
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
