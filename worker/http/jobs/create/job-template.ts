// Templates of an account: opens them, and makes jobs from them.
import { AppError, type Failure } from "#shared/errors.ts";
import { excerpt } from "#shared/excerpt.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { expandTemplate, type Template, templateRef } from "#shared/template/expand-template.ts";
import { TEMPLATE_NAME } from "#shared/template/template-body.ts";
import type { Env } from "../../../bindings.ts";
import { seal, unseal } from "../../../crypto/sealed-secret.ts";
import type { Account } from "../../../db/credentials.ts";
import { findTemplate, type TemplateRow } from "../../../db/templates.ts";
import { settingsOf } from "../../../settings.ts";

export type Owner = { readonly env: Env; readonly account: Pick<Account, "id"> };

/** The context that binds the sealed body of a template. */
export const templateContext = ({ accountId, name }: Pick<TemplateRow, "accountId" | "name">): string =>
  `template:${accountId}:${name}`;

export const sealTemplate = ({ env, account }: Owner, name: string, body: object): Promise<string> =>
  seal(JSON.stringify(body), templateContext({ accountId: account.id, name }), settingsOf(env).sealingKeys);

/** Throws AppError(sealing_key_missing). */
export async function openTemplate(env: Env, row: TemplateRow): Promise<Template> {
  const body = JSON.parse(await unseal(row.sealed, templateContext(row), settingsOf(env).sealingKeys));
  return { name: row.name, version: row.version, body };
}

export const noTemplate = (ref: string): AppError =>
  new AppError(
    "template_not_found",
    `The account has no template \`${excerpt(ref)}\`, or this version is no longer kept`,
  );

/** The name and version in a text such as `web` or `web@3`; null if it is not valid. */
export function parseRef(ref: string): { name: string; version: number | null } | null {
  const [, name = "", version] = /^([^@]*)(?:@([1-9]\d{0,8}))?$/.exec(ref) ?? [];
  return TEMPLATE_NAME.test(name) ? { name, version: version === undefined ? null : Number(version) } : null;
}

/**
 * A template of the account, by a text such as `web` or `web@3`. Throws AppError(template_not_valid |
 * template_not_found).
 */
export async function findOwnTemplate({ env, account }: Owner, ref: unknown): Promise<Template> {
  const wanted = typeof ref === "string" ? parseRef(ref) : null;
  if (!wanted) {
    const rule = "must be the name of a template, such as `web`, or a version of it, such as `web@3`";
    throw new AppError("template_not_valid", `\`template\` ${rule}`);
  }
  const row = await findTemplate(env.DB, account.id, wanted);
  if (!row) throw noTemplate(String(ref));
  return openTemplate(env, row);
}

/** The body of a job, and the template that it is from. `explain` completes errors about the body. */
export type JobBody = {
  readonly body: unknown;
  readonly template: { readonly template?: string };
  readonly explain: (failure: Failure) => Failure;
};

/** The body of a requested job, from its template if it names a template. Throws AppError(template_*). */
export async function withTemplate(body: unknown, find: (ref: unknown) => Promise<Template>): Promise<JobBody> {
  if (!isObject(body) || body.template === undefined) return { body, template: {}, explain: (failure) => failure };
  const template = await find(body.template);
  const expanded = expandTemplate(template, body);
  if (!expanded.ok) throw AppError.from(expanded.error);
  return {
    body: expanded.value.body,
    template: { template: templateRef(template) },
    explain: expanded.value.inTemplate,
  };
}
