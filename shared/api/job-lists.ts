// Schemas of requests for many jobs: count them, and cancel or retry the jobs of a list or a filter.
import * as z from "zod";
import { JOB_STATUSES } from "../job/job-status.ts";
import { NAMED } from "../named-schemas.ts";
import { strictObject } from "../strict-object.ts";
import { BODY_FILTER_FIELDS, CursorText, Statuses } from "./job-filter.ts";
import { REQUEST_ERROR_CODES } from "./job-responses.ts";

export const JobCounts = z
  .object({
    counts: z.partialRecord(z.enum(JOB_STATUSES), z.int()).describe("The number of jobs by status"),
    capped: z
      .boolean()
      .describe(
        "Whether there are more: only the newest 10,000 of each status are counted, with a tag the newest 10,000 jobs with it, with `q` 2,000",
      ),
  })
  .describe("The numbers of jobs of the account")
  .register(NAMED, { id: "JobCounts" });
export type JobCounts = z.infer<typeof JobCounts>;

/** Maximum number of jobs in a request. */
export const MAX_BULK = 100;
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_BULK}`;

export const BulkBody = strictObject({
  ids: z
    .array(z.string("must be the id of a job"), "must be an array of ids")
    .min(1, "must have at least one id")
    .max(MAX_BULK, `must have at most ${MAX_BULK} ids`)
    .exactOptional()
    .describe("The ids of the jobs"),
  filter: strictObject({ status: Statuses, ...BODY_FILTER_FIELDS })
    .exactOptional()
    .describe("Instead of ids: which jobs, newest first; without a status all that the operation is possible for"),
  limit: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(MAX_BULK, LIMIT_RULE)
    .default(MAX_BULK)
    .describe("With a filter: maximum jobs of this request"),
  cursor: CursorText.exactOptional().describe("With a filter: the `next_cursor` of the previous response"),
})
  .refine(
    ({ ids, filter }) => (ids === undefined) !== (filter === undefined),
    "must have either `ids` or `filter`, and not both",
  )
  .describe("The jobs")
  .register(NAMED, { id: "Bulk" });
export type BulkBody = z.output<typeof BulkBody>;

export const BulkResult = z
  .object({
    jobs: z
      .array(
        z.object({
          id: z.string(),
          status: z.enum(JOB_STATUSES).exactOptional().describe("The new status of the job"),
          error: z
            .object({ error_code: z.enum(REQUEST_ERROR_CODES), message: z.string() })
            .exactOptional()
            .describe("Why nothing was done with this job"),
        }),
      )
      .describe("The jobs in the order of the ids or of the filter"),
    has_more: z.boolean().describe("Whether there may be more jobs of the filter"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next request; null when there are no more jobs"),
  })
  .describe("The result for each job")
  .register(NAMED, { id: "BulkResult" });
export type BulkResult = z.infer<typeof BulkResult>;
