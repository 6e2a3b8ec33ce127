// /v2/templates: jobs that are stored under a name, with variables.

import type { Context } from "hono";
import { TemplateContents, type TemplateList, type TemplateSummary, type TemplateView } from "#shared/api/templates.ts";
import { AppError } from "#shared/errors.ts";
import { excerpt } from "#shared/excerpt.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { fieldOf, isObject } from "#shared/request/parse-section.ts";
import { MAX_TEMPLATE_BYTES, parseTemplate, TEMPLATE_NAME, type TemplateBody } from "#shared/template/template-body.ts";
import { hideTemplateSecrets, keepSecrets } from "#shared/template/template-secrets.ts";
import { usesOf } from "#shared/template/variables.ts";
import {
  deleteTemplate,
  findTemplate,
  insertTemplate,
  listTemplates,
  MAX_TEMPLATES,
  type Precondition,
  type TemplateRow,
  versionsOf,
} from "../../db/templates.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { parseJson, readBytes } from "../body/read-body.ts";
import { noTemplate, openTemplate, parseRef, sealTemplate } from "../jobs/create/job-template.ts";
import { mount } from "../operation/mount.ts";
import { parseQuery } from "../query/parse-query.ts";
import { PutTemplateParameters } from "../query/template-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { TEMPLATE_OPERATIONS } from "./templates.operations.ts";

type Named = Context<ClientEnv, "/:name">;

export const templates = mount(TEMPLATE_OPERATIONS, {
  listTemplates: async (context) => {
    const rows = await listTemplates(context.env.DB, context.get("account").id, "templates");
    return jsonResponse(context, { templates: rows.map(viewSummary) } satisfies TemplateList);
  },
  getTemplate: async (context) => viewTemplate(context, await ownTemplate(context)),
  putTemplate: put,
  deleteTemplate: async (context) => {
    const row = await ownTemplate(context);
    // Jobs may name a version; only all versions together can be deleted.
    if (row.name !== context.req.param("name")) throw noTemplate(context.req.param("name"));
    const isDeleted = await deleteTemplate(context.env.DB, row.accountId, row.name, preconditionOf(context));
    if (!isDeleted) throw changedMeanwhile(row.name);
    return jsonResponse(context, viewSummary(row));
  },
});

async function put(context: Named): Promise<Response> {
  const { env } = context;
  const name = context.req.param("name");
  if (!TEMPLATE_NAME.test(name)) {
    const rule = "must have 1 to 64 letters, digits, `_`, `.` and `-`, and start with a letter or digit";
    throw new AppError("template_not_valid", `The name of a template ${rule}`);
  }
  const { keep_secrets: keepsSecrets } = parseQuery(PutTemplateParameters, context.req.query());
  const parsed = parseTemplate(parseJson(await readBytes(context.req, MAX_TEMPLATE_BYTES)));
  if (!parsed.ok) throw AppError.from(parsed.error);
  const account = context.get("account");
  const precondition = preconditionOf(context);
  const body = keepsSecrets ? await withEarlierSecrets(context, name, parsed.value) : parsed.value;
  const sealed = await sealTemplate({ env, account }, name, body);
  const row = {
    accountId: account.id,
    name,
    createdAt: Date.now(),
    contents: JSON.stringify(contentsOf(body)),
    sealed,
  };
  const version = await insertTemplate(env.DB, row, precondition);
  if (version !== null) return viewTemplate(context, { ...row, version }, version === 1 ? 201 : 200);
  const { length } = await versionsOf(env.DB, account.id, name);
  if (precondition === null || (precondition === "none" && length === 0)) {
    throw new AppError("too_many_templates", `The account may have ${MAX_TEMPLATES} templates; delete some`);
  }
  throw changedMeanwhile(name);
}

const changedMeanwhile = (name: string): AppError =>
  new AppError(
    "precondition_failed",
    `The newest version of the template \`${excerpt(name)}\` is not the expected one`,
  );

async function withEarlierSecrets({ env, get }: Named, name: string, body: TemplateBody): Promise<TemplateBody> {
  const row = await findTemplate(env.DB, get("account").id, { name, version: null });
  return row ? keepSecrets(body, (await openTemplate(env, row)).body) : body;
}

/** The template of the path, such as `web` or `web@3`. Throws AppError(template_not_found). */
async function ownTemplate(context: Named): Promise<TemplateRow> {
  const ref = context.req.param("name");
  const wanted = parseRef(ref);
  const row = wanted && (await findTemplate(context.env.DB, context.get("account").id, wanted));
  if (!row) throw noTemplate(ref);
  return row;
}

async function viewTemplate(context: Named, row: TemplateRow, status: 200 | 201 = 200): Promise<Response> {
  const { body } = await openTemplate(context.env, row);
  const { value, leftOut } = hideTemplateSecrets(body);
  context.header("etag", `"${row.version}"`);
  const view: TemplateView = {
    ...viewSummary(row),
    template: value as TemplateView["template"],
    left_out: leftOut.map((path) => fieldOf("", path)),
    versions: await versionsOf(context.env.DB, row.accountId, row.name),
  };
  return jsonResponse(context, view, status);
}

const contentsOf = (body: TemplateBody): TemplateContents => ({
  outputs: isObject(body.outputs) ? Object.keys(body.outputs) : [],
  variables: [...new Set(usesOf(body).map(({ name }) => name))],
  saved_storage: isObject(body.storage) && typeof body.storage.use === "string" ? body.storage.use : null,
});

type Listed = Omit<TemplateRow, "accountId" | "sealed">;

const viewSummary = ({ name, version, createdAt, contents }: Listed): TemplateSummary => ({
  name,
  version,
  created_at: contractDate(createdAt),
  ...TemplateContents.parse(JSON.parse(contents ?? "null")),
});

/** The precondition in the headers (RFC 9110 §13.1). Throws AppError(precondition_failed) for other entity tags. */
function preconditionOf(context: Named): Precondition {
  const [match, noneMatch] = [context.req.header("if-match"), context.req.header("if-none-match")];
  if (match === undefined) return noneMatch?.trim() === "*" ? "none" : null;
  if (match.trim() === "*") return "any";
  const version = /^\s*"?([1-9]\d{0,8})"?\s*$/.exec(match)?.[1];
  if (version === undefined) throw changedMeanwhile(context.req.param("name"));
  return Number(version);
}
