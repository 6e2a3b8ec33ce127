// The scopes that the routes of clients need. An API key with scopes gets only routes of this table.
import type { Context } from "hono";
import type { Scope } from "#shared/api/scopes.ts";
import { AppError } from "#shared/errors.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { TEMPLATE_SECTIONS } from "#shared/template/template-body.ts";

/**
 * All scopes that a route needs; `unrestricted`: only keys without scopes; `job`: `jobs:create`, or `templates:use` for
 * a job that consists of a template and its variables.
 */
type Needed = readonly Scope[] | "unrestricted" | "job";

const ROUTES: readonly [Needed, readonly string[]][] = [
  ["job", ["POST /v2/jobs"]],
  [
    ["jobs:create"],
    [
      "POST /v2/jobs/batch",
      "PATCH /v2/jobs/:id",
      "DELETE /v2/jobs/:id",
      "POST /v2/jobs/:id/retry",
      "GET /v2/fonts",
      "POST /v2/probes",
      "GET /v2/probes/:id",
      // Without secrets. A job may use them.
      "GET /v2/storages",
      "GET /v2/storages/:name",
    ],
  ],
  // The response lists the jobs that a filter selects.
  [
    ["jobs:create", "jobs:read"],
    ["POST /v2/jobs/cancel", "POST /v2/jobs/retry"],
  ],
  [
    ["jobs:read"],
    [
      "GET /v2/jobs",
      "GET /v2/jobs/counts",
      "GET /v2/jobs/:id",
      "GET /v2/jobs/:id/events",
      "GET /v2/jobs/:id/notifications",
      "GET /v2/jobs/:id/tasks",
      "GET /v2/jobs/:id/commands",
      "GET /v2/jobs/:id/running",
      "GET /v2/jobs/:id/request",
      "GET /v2/jobs/:id/queue",
      "GET /v2/metadata/jobs/:id",
      "GET /v2/metadata/jobs/:id/:key",
      "GET /v2/events",
    ],
  ],
  [
    ["uploads:create"],
    [
      "POST /v2/uploads",
      "GET /v2/uploads/:id",
      "PUT /v2/uploads/:id/parts/:number",
      "POST /v2/uploads/:id/complete",
      "DELETE /v2/uploads/:id",
      // With a job or a receiver also jobs:create or templates:use: the handler checks the body.
      "POST /v2/upload-links",
      "GET /v2/upload-links/:id",
      "DELETE /v2/upload-links/:id",
    ],
  ],
  // The list shows the files of all clients of the account.
  [
    ["uploads:create", "jobs:read"],
    ["GET /v2/uploads", "GET /v2/upload-links"],
  ],
  [["usage:read"], ["GET /v2/usage"]],
  [["templates:use"], ["GET /v2/templates", "GET /v2/templates/:name"]],
  [
    "unrestricted",
    [
      // Signed notifications to any URL, and the secret that signs them.
      "POST /v2/jobs/:id/notifications/:nid/replay",
      "POST /v2/notifications/test",
      "POST /v2/account/webhook-secret",
      // Templates have the storages of the account.
      "PUT /v2/templates/:name",
      "DELETE /v2/templates/:name",
      "GET /v2/templates/:name/tokens",
      "POST /v2/templates/:name/tokens",
      "DELETE /v2/templates/:name/tokens/:id",
      "PUT /v2/storages/:name",
      "DELETE /v2/storages/:name",
      "POST /v2/storages/:name/test",
    ],
  ],
];

const NEEDED: ReadonlyMap<string, Needed> = new Map(
  ROUTES.flatMap(([needed, routes]) => routes.map((route) => [route, needed] as const)),
);

/** The scopes that a route needs, such as `GET`, `/v2/jobs/:id`; null if the table does not have the route. */
export const neededScopes = (method: string, path: string): Needed | null =>
  NEEDED.get(`${method} ${path.replace(/\{[^{}]*\}/g, "")}`) ?? null;

/**
 * Requires the scopes of the request's route. `scopes` of the key; null: unrestricted. Throws AppError(scope_missing).
 */
export function requireScopes(context: Context, scopes: readonly string[] | null): void {
  // The first route of several handles the request. Unknown routes and methods get 404 and 405.
  const route = scopes && context.req.matchedRoutes.find(({ method }) => method !== "ALL");
  if (!scopes || !route) return;
  const needed = neededScopes(route.method, route.path);
  if (!needed || needed === "unrestricted") {
    throw new AppError("scope_missing", "The API key has scopes; this request needs an API key without scopes");
  }
  // The handler of the route checks the body of a job.
  if (needed === "job") requireScope(scopes, scopes.includes("templates:use") ? "templates:use" : "jobs:create");
  else requireScope(scopes, ...needed);
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
  const found = section === undefined ? "it names no template" : `it has \`${section}\``;
  throw new AppError("scope_missing", `The API key has no scope \`jobs:create\`: ${only}, and ${found}`);
}

/** Requires scopes of a key. Throws AppError(scope_missing) that names the first missing scope. */
export function requireScope(scopes: readonly string[] | null, ...needed: readonly Scope[]): void {
  const missing = scopes && needed.find((scope) => !scopes.includes(scope));
  if (!missing) return;
  throw new AppError("scope_missing", `The API key has no scope \`${missing}\`; its scopes: ${scopes.join(", ")}`);
}
