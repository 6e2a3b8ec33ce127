// The audit: who changed what, when and from where.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { NAMED } from "../named-schemas.ts";

export const AuditEntry = z.object({
  id: z.string(),
  created_at: ContractDate,
  account: z.string().nullable().describe("The account's id; null: the service itself was changed"),
  actor: z.string().describe("The id of the API key; `operator`: the admin token or its session"),
  actor_name: z.string().nullable().describe("The name of the API key; null: none"),
  ip: z.string().nullable().describe("The client's IP address; null: the service itself, or the operator"),
  action: z.string().describe("The operation, such as `cancelJob`"),
  object: z.string().describe("The kind and the id of the changed thing, such as `jobs/3clA7G2GY8bXR5`"),
  status: z.int().describe("The HTTP status of the response"),
});

export const AuditList = z
  .object({
    entries: z.array(AuditEntry).describe("The newest first"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next page; null: there are no more"),
  })
  .describe("A page of the audit")
  .register(NAMED, { id: "AuditList" });
export type AuditList = z.infer<typeof AuditList>;
