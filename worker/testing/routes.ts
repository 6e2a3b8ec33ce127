// The service's routes for tests, from the app itself: one that is added is tested without being written down again.
import { app } from "../http/app.ts";

/** Whom a route is for. */
export type Audience = "client" | "node" | "operator" | "anyone";

export type TestRoute = { readonly method: string; readonly path: string; readonly audience: Audience };

/** By the beginning of the path. What is new here must be sorted in, or no test runs. */
const AUDIENCES: readonly [RegExp, Audience][] = [
  [/^\/v2\/jobs(\/|$)/, "client"],
  [/^\/v2\/metadata\//, "client"],
  [/^\/v2\/nodes\//, "node"],
  [/^\/v2\/admin\//, "operator"],
  // Signed addresses and unguessable ids; they are tested beside the route.
  [/^\/storage\//, "anyone"],
  [/^\/(docs.*|v2\/health|v2\/openapi\.json)?$/, "anyone"],
];

export const ROUTES: readonly TestRoute[] = app.routes
  .filter(({ method }) => method !== "ALL")
  .map(({ method, path }) => {
    const audience = AUDIENCES.find(([pattern]) => pattern.test(path))?.[1];
    if (!audience) throw new Error(`Whom is ${method} ${path} for? Say so in AUDIENCES`);
    return { method, path, audience };
  });

/** The route's path with its parameters filled in. Throws for one that was forgotten. */
export const fill = ({ path }: TestRoute, values: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value for :${name} of ${path}`);
    return value;
  });
