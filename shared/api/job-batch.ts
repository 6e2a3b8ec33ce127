// Schemas of POST /v2/jobs/batch.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { strictObject } from "../strict-object.ts";
import { REQUEST_ERROR_CODES } from "./job-responses.ts";

export const BATCH_JOBS = 500;
export const MAX_BATCH_BYTES = 5 * 2 ** 20;

const RULE = `must be a list of 1 to ${BATCH_JOBS} jobs`;
const Job = z.looseObject({}, "must be an object");

export const BatchBody = strictObject({
  template: z.string("must be a string").exactOptional().describe("The template of jobs that name no other"),
  defaults: Job.exactOptional().describe("Sections and `vars`, over which each job is merged (RFC 7396)"),
  jobs: z.array(Job, RULE).min(1, RULE).max(BATCH_JOBS, RULE).describe("The jobs, as in `POST /v2/jobs`"),
})
  .describe("New jobs")
  .register(NAMED, { id: "Batch" });
export type BatchBody = z.infer<typeof BatchBody>;

export const BatchResult = z
  .object({
    dry_run: z.literal(true).exactOptional(),
    jobs: z
      .array(
        z.union([
          z.object({ id: z.string().describe("The id of the job") }),
          z.object({ valid: z.literal(true).describe("With `dry_run`: the job is valid") }),
          z.object({ error: z.object({ error_code: z.enum(REQUEST_ERROR_CODES), message: z.string() }) }),
        ]),
      )
      .describe(
        "The id or the error of each job, in the order of the request. With `dry_run`, `valid` instead of the id",
      ),
  })
  .describe("The jobs of a batch")
  .register(NAMED, { id: "BatchResult" });
export type BatchResult = z.infer<typeof BatchResult>;
