// Filters of an account's jobs: query parameters and body fields.
import * as z from "zod";
import { isoTime } from "../iso-time.ts";
import { JOB_STATUSES, type JobStatus } from "../job/job-status.ts";
import { TagFilter } from "../job/tags.ts";

const STATUS_RULE = `must be one of ${JOB_STATUSES.join(", ")}, or several of them separated by commas`;
const TEXT_RULE = "must have 1 to 200 characters";

const isStatus = (text: string): text is JobStatus => JOB_STATUSES.some((status) => status === text);

/** Statuses separated by commas, or none. */
export const Statuses = z
  .string(STATUS_RULE)
  .refine((text) => text.split(",").every(isStatus), STATUS_RULE)
  .transform((text) => [...new Set(text.split(",").filter(isStatus))])
  .optional()
  .describe("Only jobs with this status, or with one of several, separated by commas");

const time = (description: string) => isoTime.optional().describe(description);

/** Filter fields except the statuses. */
export const FILTER_FIELDS = {
  q: z
    .string(TEXT_RULE)
    .trim()
    .min(1, TEXT_RULE)
    .max(200, TEXT_RULE)
    .optional()
    .describe("Only jobs whose id, input host, input path or output paths contain this text, in any case"),
  created_after: time("Only jobs created at this time or later; a date means its start in UTC"),
  created_before: time("Only jobs created before this time; a date means its start in UTC"),
};

/** The same in the body of a request. In a query, each tag is a parameter `tag.<name>`. */
export const BODY_FILTER_FIELDS = { ...FILTER_FIELDS, tags: TagFilter.optional() };

export const JOB_SORTS = ["created", "ended", "took"] as const;
export type JobSort = (typeof JOB_SORTS)[number];

export const Sort = z
  .enum(JOB_SORTS, `must be one of ${JOB_SORTS.join(", ")}`)
  .default("created")
  .describe(
    "The order: `created` the newest first, `ended` the jobs that ended last first, `took` the jobs with the longest time " +
      "from `started_at` to `completed_at` first. `ended` and `took` leave out jobs that have not ended",
  );

export const CURSOR_RULE = "must be the `next_cursor` of a previous response";
/** Position of a job in a list, newest first: its time in ms since 1970, and its id. */
export const CursorText = z.string().regex(/^\d{1,16}-[A-Za-z0-9]{14}$/, CURSOR_RULE);
/** The same in any order: the order if it is not `created`, and its value in ms. */
export const ListCursor = z.string().regex(/^(?:(?:ended|took)\.)?\d{1,16}-[A-Za-z0-9]{14}$/, CURSOR_RULE);
