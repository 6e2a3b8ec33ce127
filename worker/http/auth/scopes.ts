// The scopes of API keys, as operations require them.
import type { Scope } from "#shared/api/scopes.ts";
import { AppError } from "#shared/errors.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { TEMPLATE_SECTIONS } from "#shared/template/template-body.ts";

/**
 * Access by API key. A list: keys without scopes, and keys with all scopes of the list. `job-key`: also keys with
 * `jobs:create`, or with `templates:use` for a job that consists of a template and its variables. `unscoped-key`: only
 * keys without scopes.
 */
export type KeyAccess = readonly Scope[] | "job-key" | "unscoped-key";

/** Requires the access of an operation. `scopes` of the key; null: unrestricted. Throws AppError(scope_missing). */
export function requireAccess(scopes: readonly string[] | null, access: KeyAccess): void {
  if (!scopes) return;
  if (access === "unscoped-key") {
    throw new AppError("scope_missing", "The API key has scopes; this request needs an API key without scopes");
  }
  // The handler of the operation checks the body of a job.
  if (access === "job-key") requireScope(scopes, scopes.includes("templates:use") ? "templates:use" : "jobs:create");
  else requireScope(scopes, ...access);
}

/**
 * Requires the scope for a job. `templates:use` is enough for a job that only names a template and gives its variables:
 * other sections would lead the template's credentials to other objects. Throws AppError(scope_missing).
 */
export function requireJobScope(scopes: readonly string[] | null, body: unknown): void {
  if (!scopes || scopes.includes("jobs:create")) return;
  const isOfTemplate = isObject(body) && body.template !== undefined;
  const section = isOfTemplate ? TEMPLATE_SECTIONS.find((name) => Object.hasOwn(body, name)) : undefined;
  if (isOfTemplate && section === undefined) return requireScope(scopes, "templates:use");
  const only = "with the scope `templates:use` alone, a job has only `template` and `vars`";
  const problem = section === undefined ? "it names no template" : `it has \`${section}\``;
  throw new AppError("scope_missing", `The API key has no scope \`jobs:create\`: ${only}, and ${problem}`);
}

/** Requires scopes of a key. Throws AppError(scope_missing) that names the first missing scope. */
export function requireScope(scopes: readonly string[] | null, ...needed: readonly Scope[]): void {
  const missing = scopes && needed.find((scope) => !scopes.includes(scope));
  if (!missing) return;
  throw new AppError("scope_missing", `The API key has no scope \`${missing}\`; its scopes: ${scopes.join(", ")}`);
}
