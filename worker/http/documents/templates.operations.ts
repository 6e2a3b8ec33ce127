// /v2/templates: jobs that are stored under a name.

import { Revoked } from "#shared/api/operator-responses.ts";
import { NewToken, TemplateList, TemplateSummary, TemplateView, TokenList } from "#shared/api/templates.ts";
import { TEMPLATE_BODY, TOKEN_ID } from "../operation/examples/templates.ts";
import { headerParameter, operations, pathParameter, queryParameters, success } from "../operation/operation.ts";
import { PutTemplateParameters } from "../query/template-query.ts";

const NAME = pathParameter("name", "The name of the template", "web");
const TOKEN = pathParameter("id", "The id of the token", TOKEN_ID);
const IF_MATCH = headerParameter(
  "If-Match",
  'The newest version must be this one, such as `"3"` (the `ETag` of `GET`), or `*`: any. Otherwise nothing changes.',
);
const IF_NONE_MATCH = headerParameter("If-None-Match", "`*`: there must be no template yet");

export const TEMPLATE_OPERATIONS = operations({ tag: "Templates", path: [NAME] })({
  listTemplates: {
    route: "GET /v2/templates",
    access: ["templates:use"],
    summary: "List templates",
    responses: [success(200, "The templates, by name", TemplateList)],
  },
  putTemplate: {
    route: "PUT /v2/templates/:name",
    access: "unscoped-key",
    summary: "Store a template",
    description:
      "The body is a job, of which any section may be missing. Its strings may contain variables, `{{ vars.name }}`; a string " +
      "that is nothing else gets the type of the value. `vars` has default values. Values are validated with each job. Each " +
      "PUT makes a version; the 20 newest are kept. An account has at most 200 templates, of 64 KiB each. The body is " +
      "encrypted on arrival, and credentials are never returned.",
    parameters: [IF_MATCH, IF_NONE_MATCH, ...queryParameters(PutTemplateParameters)],
    body: {
      json: "NewTemplate",
      code: "template_not_valid",
      examples: { web: { summary: "Outputs with a variable, and their storage", value: TEMPLATE_BODY } },
    },
    responses: [success(201, "The new template", TemplateView), success(200, "The new version", TemplateView)],
    codes: ["precondition_failed", "too_many_templates", "sealing_key_missing"],
  },
  getTemplate: {
    route: "GET /v2/templates/:name",
    access: ["templates:use"],
    summary: "Read a template",
    description: "The newest version, or with a name such as `web@3` this version. Secrets are missing.",
    responses: [success(200, "The template", TemplateView)],
    codes: ["template_not_found", "sealing_key_missing"],
  },
  deleteTemplate: {
    route: "DELETE /v2/templates/:name",
    access: "unscoped-key",
    summary: "Delete a template",
    description: "Deletes all versions. Jobs that were created from it do not change.",
    parameters: [IF_MATCH],
    responses: [success(200, "The deleted template", TemplateSummary)],
    codes: ["template_not_found", "precondition_failed"],
  },
});

export const TOKEN_OPERATIONS = operations({ tag: "Templates", access: "unscoped-key", path: [NAME, TOKEN] })({
  listIngestTokens: {
    route: "GET /v2/templates/:name/tokens",
    summary: "List the tokens of a template",
    responses: [success(200, "The tokens", TokenList)],
    codes: ["template_not_found", "sealing_key_missing"],
  },
  createIngestToken: {
    route: "POST /v2/templates/:name/tokens",
    summary: "Create a URL for events of buckets",
    description: "The URL has a token, and is shown once. A template has at most ten tokens.",
    responses: [success(201, "The new token, with its URL", NewToken)],
    codes: ["template_not_found", "too_many_tokens", "sealing_key_missing"],
  },
  deleteIngestToken: {
    route: "DELETE /v2/templates/:name/tokens/:id",
    summary: "Revoke a token of a template",
    responses: [success(200, "The token is revoked", Revoked)],
    codes: ["credential_not_found"],
  },
});
