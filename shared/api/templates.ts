// Schemas for templates of jobs.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { NAMED } from "../named-schemas.ts";

/** The names in a template that lists show. */
export const TemplateContents = z.object({
  outputs: z.array(z.string()).describe("The keys of its outputs"),
  variables: z.array(z.string()).describe("The names of its variables"),
  saved_storage: z.string().nullable().describe("The saved storage that it names; null: none"),
});
export type TemplateContents = z.infer<typeof TemplateContents>;

const summary = {
  name: z.string(),
  version: z.int().describe("The newest version; each PUT makes a version"),
  created_at: ContractDate.describe("When this version was stored"),
  ...TemplateContents.shape,
};

export const TemplateSummary = z
  .object(summary)
  .describe("A template without its sections")
  .register(NAMED, { id: "TemplateSummary" });
export type TemplateSummary = z.infer<typeof TemplateSummary>;

export const TemplateList = z
  .object({ templates: z.array(TemplateSummary).describe("By name") })
  .describe("The templates of the account")
  .register(NAMED, { id: "TemplateList" });
export type TemplateList = z.infer<typeof TemplateList>;

const token = {
  id: z.string().describe("The id of the token, to delete it"),
  created_at: ContractDate,
  expires_at: ContractDate.nullable().describe("The end of the API key that made the token; null: none"),
};

export const TokenList = z
  .object({ tokens: z.array(z.object(token)).describe("The oldest first") })
  .describe("The tokens of a template for events of buckets")
  .register(NAMED, { id: "IngestTokenList" });
export type TokenList = z.infer<typeof TokenList>;

export const NewToken = z
  .object({ ...token, url: z.string().describe("Receives events of buckets. It has the token, and is shown once") })
  .describe("A new token of a template for events of buckets")
  .register(NAMED, { id: "NewIngestToken" });
export type NewToken = z.infer<typeof NewToken>;

export const IngestResult = z
  .object({
    jobs: z.array(z.string()).describe("The ids of the jobs, also of jobs from an earlier delivery"),
    ignored: z.int().describe("Number of events that made no job"),
  })
  .describe("The jobs of delivered events")
  .register(NAMED, { id: "IngestResult" });
export type IngestResult = z.infer<typeof IngestResult>;

export const TemplateView = z
  .object({
    ...summary,
    version: z.int().describe("The version of this response"),
    template: z.looseObject({}).describe("The sections of a job, with variables, without secrets"),
    left_out: z
      .array(z.string())
      .describe("The fields that are missing because they are secret, or lack a secret part: of URLs, user and query"),
    versions: z.array(z.int()).describe("The versions that are kept, newest first"),
  })
  .describe("A version of a template")
  .register(NAMED, { id: "Template" });
export type TemplateView = z.infer<typeof TemplateView>;
