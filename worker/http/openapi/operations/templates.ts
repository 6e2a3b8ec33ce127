// /v2/templates: jobs that are stored under a name.
import * as z from "zod";
import { PutTemplateParameters } from "../../query/template-query.ts";
import { TEMPLATE_BODY, TOKEN_ID } from "../examples/templates.ts";
import { type Operation, type Parameter, pathParameter, queryParameters, success } from "../operation.ts";

const template = { tag: "Templates", access: "client" } as const;
const NAME = pathParameter("name", "The name of the template", "web");
const IF_MATCH: Parameter = {
  in: "header",
  name: "If-Match",
  description:
    'The newest version must be this one, such as `"3"` (the `ETag` of `GET`), or `*`: any. Otherwise nothing changes.',
  schema: z.string(),
  required: false,
};
const IF_NONE_MATCH: Parameter = {
  ...IF_MATCH,
  name: "If-None-Match",
  description: "`*`: there must be no template yet",
};

const view = (status: number, description: string): Operation["responses"][number] =>
  success(status, description, "Template");

export const TEMPLATE_OPERATIONS: readonly Operation[] = [
  {
    ...template,
    method: "get",
    path: "/v2/templates",
    id: "listTemplates",
    summary: "List templates",
    responses: [success(200, "The templates, by name", "TemplateList")],
    codes: [],
  },
  {
    ...template,
    method: "put",
    path: "/v2/templates/:name",
    id: "putTemplate",
    summary: "Store a template",
    description:
      "The body is a job, of which any section may be missing. Its strings may contain variables, `{{ vars.name }}`; a string " +
      "that is nothing else gets the type of the value. `vars` has default values. Values are validated with each job. Each " +
      "PUT makes a version; the 20 newest are kept. An account has at most 200 templates, of 64 KiB each. The body is " +
      "encrypted on arrival, and credentials are never returned.",
    parameters: [NAME, IF_MATCH, IF_NONE_MATCH, ...queryParameters(PutTemplateParameters)],
    body: {
      json: "NewTemplate",
      examples: { web: { summary: "Outputs with a variable, and their storage", value: TEMPLATE_BODY } },
    },
    responses: [view(201, "The new template"), view(200, "The new version")],
    codes: [
      ...(["json_not_valid", "template_not_valid", "query_not_valid", "body_too_large"] as const),
      ...(["precondition_failed", "too_many_templates", "sealing_key_missing"] as const),
    ],
  },
  {
    ...template,
    method: "get",
    path: "/v2/templates/:name",
    id: "getTemplate",
    summary: "Read a template",
    description: "The newest version, or with a name such as `web@3` this version. Secrets are missing.",
    parameters: [NAME],
    responses: [view(200, "The template")],
    codes: ["template_not_found", "sealing_key_missing"],
  },
  {
    ...template,
    method: "delete",
    path: "/v2/templates/:name",
    id: "deleteTemplate",
    summary: "Delete a template",
    description: "Deletes all versions. Jobs that were created from it do not change.",
    parameters: [NAME, IF_MATCH],
    responses: [success(200, "The deleted template", "TemplateSummary")],
    codes: ["template_not_found", "precondition_failed"],
  },
  {
    ...template,
    method: "get",
    path: "/v2/templates/:name/tokens",
    id: "listIngestTokens",
    summary: "List the tokens of a template",
    parameters: [NAME],
    responses: [success(200, "The tokens", "IngestTokenList")],
    codes: ["template_not_found", "sealing_key_missing"],
  },
  {
    ...template,
    method: "post",
    path: "/v2/templates/:name/tokens",
    id: "createIngestToken",
    summary: "Create a URL for events of buckets",
    description: "The URL has a token, and is shown once. A template has at most ten tokens.",
    parameters: [NAME],
    responses: [success(201, "The new token, with its URL", "NewIngestToken")],
    codes: ["template_not_found", "too_many_tokens", "sealing_key_missing"],
  },
  {
    ...template,
    method: "delete",
    path: "/v2/templates/:name/tokens/:id",
    id: "deleteIngestToken",
    summary: "Revoke a token of a template",
    parameters: [NAME, pathParameter("id", "The id of the token", TOKEN_ID)],
    responses: [success(200, "The token is revoked", "Revoked")],
    codes: ["credential_not_found"],
  },
  {
    ...template,
    access: "anyone",
    method: "post",
    path: "/v2/ingest/:template/:token",
    id: "ingest",
    summary: "Deliver events of a bucket",
    description:
      "For object storages: events of Amazon S3 (direct, by SNS or EventBridge), Cloudflare R2, Google Cloud Storage (Pub/Sub " +
      "push) and Azure Event Grid. Each version of a created object becomes a job of the template, once.",
    parameters: [
      pathParameter("template", "The name of the template", "web"),
      pathParameter("token", "A token of the template", "D9mPzB1yPcQmZkWvG3a7Rr5nTq2x"),
    ],
    bytes: true,
    responses: [success(200, "The jobs", "IngestResult")],
    codes: [
      ...(["event_not_valid", "json_not_valid", "body_too_large", "authentication_failed", "rate_limited"] as const),
      ...(["template_not_found", "template_vars_not_valid", "too_many_jobs", "sealing_key_missing"] as const),
    ],
  },
];
