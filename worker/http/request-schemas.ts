// The schemas of the operator's requests. Those of job requests are in shared/request.
import * as z from "zod";
import { text } from "#shared/request/parse-section.ts";
import { strictObject } from "#shared/strict-object.ts";

export const NamedBody = strictObject({
  name: text(100).describe("A name for the operator: 1 to 100 characters"),
});

const LIMIT_RULE = "must be null or a whole number from 1 to 100000";

export const LimitsBody = strictObject({
  max_unfinished_jobs: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(100_000, LIMIT_RULE)
    .nullable()
    .describe("Maximum unfinished jobs of the account; null: the MAX_UNFINISHED_JOBS of the service"),
});

export const ResealBody = strictObject({
  cursor: z
    .string("must be a string")
    .max(40, "must have at most 40 characters")
    .nullable()
    .exactOptional()
    .describe("The `next_cursor` of the previous response; null or absent: start from the beginning"),
});
