// Schemas for uploads of source files.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { text } from "../request/parse-section.ts";
import { strictObject } from "../strict-object.ts";

/**
 * Size in bytes of all parts except the last. A request to a Worker may have 100 MB (Workers limits, free and pro
 * plans).
 */
export const PART_BYTES = 64 * 2 ** 20;
/** Maximum number of parts of an upload (limit of R2 and S3). */
export const MAX_PARTS = 10_000;
export const MAX_UPLOAD_BYTES = MAX_PARTS * PART_BYTES;

const SIZE_RULE = `must be the size of the file in bytes: a whole number from 1 to ${MAX_UPLOAD_BYTES}`;

export const UPLOAD_STATUSES = ["open", "completed"] as const;

/** The name of an uploaded file: logs, terminals and other files show it in a line. */
export const UploadName = text(255, ": the name of the file").regex(
  /^[^\p{Cc}\u2028\u2029]*$/u,
  "must not contain control characters or line ends",
);

export const UploadBody = strictObject({
  name: UploadName.describe("The name of the file, for people"),
  size: z
    .int(SIZE_RULE)
    .min(1, SIZE_RULE)
    .max(MAX_UPLOAD_BYTES, SIZE_RULE)
    .describe(`The size of the file in bytes, at most ${MAX_UPLOAD_BYTES}`),
})
  .describe("The name and size of a file")
  .register(NAMED, { id: "NewUpload" });

/** ISO 8601 in UTC with milliseconds. */
const Time = z.iso.datetime({ precision: 3 });

export const UploadPart = z
  .object({
    number: z.int().describe("The number of the part, from 1"),
    size: z.int().describe("Its size in bytes"),
    etag: z.string().describe("The storage's name for this version of the part"),
  })
  .describe("A stored part of an upload")
  .register(NAMED, { id: "UploadPart" });
export type UploadPart = z.infer<typeof UploadPart>;

export const UploadSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    size: z.int().describe("The size of the file in bytes"),
    part_size: z.int().describe("The size of all parts but the last in bytes"),
    status: z.enum(UPLOAD_STATUSES).describe("`open` until it is `completed`, and jobs can read it"),
    created_at: Time,
    expires_at: Time.describe("When it is removed, unless it is written or a job reads it before"),
  })
  .describe("An upload without its parts")
  .register(NAMED, { id: "UploadSummary" });
export type UploadSummary = z.infer<typeof UploadSummary>;

export const Upload = z
  .object({
    ...UploadSummary.shape,
    parts: z.array(UploadPart).describe("The stored parts, by number"),
    url: z
      .string()
      .exactOptional()
      .describe(
        "From where the file can be read for six hours, also in ranges, by anyone who has the URL; only in responses " +
          "to `GET`, when it is `completed`",
      ),
  })
  .describe("An upload of a source file")
  .register(NAMED, { id: "Upload" });
export type Upload = z.infer<typeof Upload>;

export const UploadList = z
  .object({
    uploads: z.array(UploadSummary).describe("Newest first"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next page; null on the last page"),
  })
  .describe("A page of the uploads of the account")
  .register(NAMED, { id: "UploadList" });
export type UploadList = z.infer<typeof UploadList>;
