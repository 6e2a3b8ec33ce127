// Schemas for upload links: URLs with which a browser uploads one file.
import * as z from "zod";
import { Tags, TagsBody } from "../job/tags.ts";
import { NAMED } from "../named-schemas.ts";
import { strictObject } from "../strict-object.ts";
import { MAX_UPLOAD_BYTES, UploadName, UploadSummary } from "./uploads.ts";

/** R2 ends multipart uploads after seven days by default. */
const MAX_LIFE_S = 7 * 24 * 60 * 60;
const MIN_LIFE_S = 60;
const MAX_ORIGINS = 20;

const SIZE_RULE = `must be a number of bytes: a whole number from 1 to ${MAX_UPLOAD_BYTES}`;
const LIFE_RULE = `must be a number of seconds: a whole number from ${MIN_LIFE_S} to ${MAX_LIFE_S}`;
const ORIGIN_RULE = "must be an origin as browsers send it, such as https://app.example.com";
const ORIGINS_RULE = `must be a list of at most ${MAX_ORIGINS} origins, such as ["https://app.example.com"]`;

const isOrigin = (value: string): boolean =>
  /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;

export const UploadLinkBody = strictObject({
  max_size: z
    .int(SIZE_RULE)
    .min(1, SIZE_RULE)
    .max(MAX_UPLOAD_BYTES, SIZE_RULE)
    .describe("The maximum size of the file in bytes"),
  expires_s: z
    .int(LIFE_RULE)
    .min(MIN_LIFE_S, LIFE_RULE)
    .max(MAX_LIFE_S, LIFE_RULE)
    .default(3600)
    .describe("Seconds until the link expires. The file must be complete by then"),
  origins: z
    .array(z.string(ORIGIN_RULE).max(255, ORIGIN_RULE).refine(isOrigin, ORIGIN_RULE), ORIGINS_RULE)
    .max(MAX_ORIGINS, ORIGINS_RULE)
    .default([])
    .describe("The origins of the pages that may use the link. Without any, only programs outside browsers may"),
  name: UploadName.exactOptional().describe(
    "The name of the file, for people; by default the name that the browser sends",
  ),
  tags: TagsBody.exactOptional().describe("Names and values of your own. The link, its events and its job have them"),
  job: z
    .record(z.string(), z.unknown(), "must be the body of a job without its `input`")
    .exactOptional()
    .describe("The body of a job without its `input`. The job is created once, when the file is complete"),
  notification: z
    .record(z.string(), z.unknown(), "must be an object with a `type` and a `url`")
    .exactOptional()
    .describe("The receiver of `upload.completed` and `upload.expired`: `type` must be `http`"),
})
  .describe("The limits of the link, and what happens with its file")
  .register(NAMED, { id: "NewUploadLink" });

export const UPLOAD_LINK_STATUSES = ["waiting", "uploading", "completed", "expired", "revoked"] as const;
export const UPLOAD_EVENTS = ["upload.completed", "upload.expired"] as const;

/** ISO 8601 in UTC with milliseconds. */
const Time = z.iso.datetime({ precision: 3 });

const link = {
  id: z.string(),
  status: z
    .enum(UPLOAD_LINK_STATUSES)
    .describe("`waiting` for a file, `uploading` it, or the end: `completed`, `expired` or `revoked`"),
  name: z.string().nullable(),
  tags: Tags.exactOptional(),
  max_size: z.int(),
  origins: z.array(z.string()),
  last_refused_origin: z
    .string()
    .nullable()
    .describe("The origin of the last page that `origins` does not have; null if there was none"),
  upload: UploadSummary.nullable().describe("The upload of the file; null before it starts and after it is removed"),
  job: z.string().nullable().describe("The id of the job that the file started"),
  job_error: z
    .object({ error_code: z.string(), message: z.string() })
    .nullable()
    .describe("Why the service refused the job when the file was complete"),
  created_at: Time,
  expires_at: Time,
  ended_at: Time.nullable(),
};

export const UploadLink = z
  .object({
    ...link,
    url: z
      .string()
      .describe("Where the file is sent in parts, without an API key. Anyone who has it can send the file"),
    tus_url: z.string().describe("The same for clients of tus 1.0.0"),
  })
  .describe("A link with which a browser uploads one file")
  .register(NAMED, { id: "UploadLink" });
export type UploadLink = z.infer<typeof UploadLink>;

export const UploadLinkList = z
  .object({
    upload_links: z.array(z.object(link)).describe("The newest first, without their URLs"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next page; null: there are no more"),
  })
  .describe("A page of upload links")
  .register(NAMED, { id: "UploadLinkList" });
export type UploadLinkList = z.infer<typeof UploadLinkList>;

export const UploadPayload = z
  .object({ event: z.enum(UPLOAD_EVENTS), upload_link_id: z.string(), data: z.object(link) })
  .describe("The end of an upload link")
  .register(NAMED, { id: "UploadPayload" });
export type UploadPayload = z.infer<typeof UploadPayload>;
