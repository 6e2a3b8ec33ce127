// The query of GET /v2/audit and GET /v2/admin/audit.
import * as z from "zod";
import { UploadListParameters } from "./upload-query.ts";

const ACTOR_RULE = "must be the id of an API key, or operator";
const ACTION_RULE = "must be the id of an operation, such as cancelJob";
const OBJECT_RULE = "must be a kind such as jobs, or a kind and an id such as jobs/3clA7G2GY8bXR5";

export const AuditParameters = UploadListParameters.extend({
  actor: z
    .string()
    .regex(/^(?:[0-9a-f]{12}|operator)$/, ACTOR_RULE)
    .optional()
    .describe("Only changes by this API key, or by the `operator`"),
  action: z
    .string()
    .regex(/^[A-Za-z]{1,40}$/, ACTION_RULE)
    .optional()
    .describe("Only changes by this operation, such as `cancelJob`"),
  object: z
    .string()
    .regex(/^[a-z-]{1,40}(?:\/.{1,160})?$/, OBJECT_RULE)
    .optional()
    .describe("Only changes of this thing, such as `jobs/3clA7G2GY8bXR5`, or of all things of a kind, such as `jobs`"),
});
