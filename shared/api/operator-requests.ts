// Schemas of the operator's requests. shared/request has the schemas of job requests.
import * as z from "zod";
import { DEFAULT_POOL, Labels, PoolName } from "../placement.ts";
import { text } from "../request/parse-section.ts";
import { strictObject } from "../strict-object.ts";

export const NamedBody = strictObject({
  name: text(100).describe("A name for the operator: 1 to 100 characters"),
});

export const NodeTokenBody = strictObject({
  ...NamedBody.shape,
  pool: PoolName.default(DEFAULT_POOL).describe("The only pool whose work nodes with this token get"),
  labels: Labels.default([]).describe("Labels of all nodes with this token, such as `gpu` or `region:eu`"),
});

const whole = (max: number, rule: string) => z.int(rule).min(1, rule).max(max, rule);
const LIMIT_RULE = "must be null or a whole number from 1 to 100000";
const MAX_WEIGHT = 1000;

export const LimitsBody = strictObject({
  max_unfinished_jobs: whole(100_000, LIMIT_RULE)
    .nullable()
    .exactOptional()
    .describe("Maximum unfinished jobs of the account; null: the MAX_UNFINISHED_JOBS of the service"),
  max_running: whole(100_000, LIMIT_RULE)
    .nullable()
    .exactOptional()
    .describe("Maximum tasks of the account that run on nodes at a time; null: no limit"),
  weight: whole(MAX_WEIGHT, `must be a whole number from 1 to ${MAX_WEIGHT}`)
    .exactOptional()
    .describe("The share of the account in the nodes while others wait: twice the weight gets twice the encoding time"),
}).refine(
  (limits) => Object.keys(limits).length > 0,
  "must have at least one of max_unfinished_jobs, max_running, weight",
);

export const ResealBody = strictObject({
  cursor: z
    .string("must be a string")
    .max(40, "must have at most 40 characters")
    .nullable()
    .exactOptional()
    .describe("The `next_cursor` of the previous response; null or absent: start from the first"),
});
