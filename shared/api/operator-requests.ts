// Schemas of the operator's requests. shared/request has the schemas of job requests.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { DEFAULT_POOL, Labels, PoolName } from "../placement.ts";
import { text } from "../request/parse-section.ts";
import { strictObject } from "../strict-object.ts";
import { SCOPE_NAMES } from "./scopes.ts";

export const NamedBody = strictObject({ name: text(100).describe("A name for the operator: 1 to 100 characters") })
  .describe("The name of a new account")
  .register(NAMED, { id: "Named" });

export const NodeTokenBody = strictObject({
  ...NamedBody.shape,
  pool: PoolName.default(DEFAULT_POOL).describe("The only pool whose work nodes with this token get"),
  labels: Labels.default([]).describe("Labels of all nodes with this token, such as `gpu` or `region:eu`"),
})
  .describe("A new node token, with its pool and labels")
  .register(NAMED, { id: "NodeToken" });

const Scopes = z
  .array(z.enum(SCOPE_NAMES, `must be one of ${SCOPE_NAMES.join(", ")}`), "must be a list of scopes")
  .min(1, "must have at least one scope; leave it out for a key without restrictions")
  .max(SCOPE_NAMES.length, `must have at most ${SCOPE_NAMES.length} scopes`);

export const KeyBody = strictObject({
  name: NamedBody.shape.name.exactOptional(),
  scopes: Scopes.exactOptional().describe("The only requests that the key may send; absent: all requests"),
  expires_at: z.iso
    .datetime({ offset: true, error: "must be a time such as 2027-01-31T12:00:00Z" })
    .exactOptional()
    .describe("From this time on, the key is not valid; absent: the key does not expire"),
})
  .describe("The name and restrictions of a new API key")
  .register(NAMED, { id: "KeyOptions" });

const whole = (max: number, rule: string) => z.int(rule).min(1, rule).max(max, rule);
const LIMIT_RULE = "must be null or a whole number from 1 to 100000";
const MAX_WEIGHT = 1000;
const PRIORITY_RULE = "must be null or a whole number from -50 to 50";

export const LimitsBody = strictObject({
  max_unfinished_jobs: whole(100_000, LIMIT_RULE)
    .nullable()
    .exactOptional()
    .describe("Maximum unfinished jobs of the account; null: the MAX_UNFINISHED_JOBS of the service"),
  max_running: whole(100_000, LIMIT_RULE)
    .nullable()
    .exactOptional()
    .describe("Maximum tasks of the account that run on nodes at a time; null: no limit"),
  max_priority: z
    .int(PRIORITY_RULE)
    .min(-50, PRIORITY_RULE)
    .max(50, PRIORITY_RULE)
    .nullable()
    .exactOptional()
    .describe("Priorities up to this one also count beside other accounts; null: they order only the account's jobs"),
  weight: whole(MAX_WEIGHT, `must be a whole number from 1 to ${MAX_WEIGHT}`)
    .exactOptional()
    .describe("The share of the account in the nodes while others wait: twice the weight gets twice the encoding time"),
})
  .refine(
    (limits) => Object.keys(limits).length > 0,
    "must have at least one of max_unfinished_jobs, max_running, max_priority, weight",
  )
  .describe("The limits of an account")
  .register(NAMED, { id: "Limits" });

export const ResealBody = strictObject({
  cursor: z
    .string("must be a string")
    .max(40, "must have at most 40 characters")
    .nullable()
    .exactOptional()
    .describe("The `next_cursor` of the previous response; null or absent: start from the first"),
})
  .describe("Where to continue")
  .register(NAMED, { id: "Reseal" });
