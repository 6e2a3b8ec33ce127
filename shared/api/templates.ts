// Schemas for templates of jobs.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";

const summary = {
  name: z.string(),
  version: z.int().describe("The newest version; each PUT makes a version"),
  created_at: ContractDate.describe("When this version was stored"),
};

export const TemplateSummary = z.object(summary).describe("A template without its contents");
export type TemplateSummary = z.infer<typeof TemplateSummary>;

export const TemplateList = z
  .object({ templates: z.array(TemplateSummary).describe("By name") })
  .describe("The templates of the account");
export type TemplateList = z.infer<typeof TemplateList>;

export const TemplateView = z
  .object({
    ...summary,
    version: z.int().describe("The version of this response"),
    template: z.looseObject({}).describe("The sections of a job, with variables, without secrets"),
    variables: z.array(z.string()).describe("The names of its variables"),
    left_out: z
      .array(z.string())
      .describe("The fields that are missing because they are secret, or lack a secret part: of URLs, user and query"),
    versions: z.array(z.int()).describe("The versions that are kept, newest first"),
  })
  .describe("A version of a template");
export type TemplateView = z.infer<typeof TemplateView>;
