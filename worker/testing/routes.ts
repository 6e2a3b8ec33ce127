// The service's routes for tests, read from the app, so that new routes are tested automatically.
import { app } from "../http/app.ts";

/** The users of a route. */
export type Audience = "client" | "node" | "operator" | "anyone";

export type TestRoute = { readonly method: string; readonly path: string; readonly audience: Audience };

/** The audience for each start of a path. A route without an entry fails all tests. */
const AUDIENCES: readonly [RegExp, Audience][] = [
  [/^\/v2\/jobs(\/|$)/, "client"],
  [/^\/v2\/metadata\//, "client"],
  [/^\/v2\/(usage|fonts|events|uploads|upload-links|templates|storages|probes|notifications|account)(\/|$)/, "client"],
  [/^\/v2\/nodes\//, "node"],
  [/^\/v2\/admin\//, "operator"],
  [/^(\/v2\/autoscale|\/metrics)\/?$/, "operator"],
  // Signed URLs, and ids that cannot be guessed. The tests of the route cover them.
  [/^(\/storage|\/v2\/links)\//, "anyone"],
  // A token in the path. The tests of the route cover it.
  [/^\/v2\/ingest\//, "anyone"],
  // Any of the credentials is enough. The tests of the route cover them.
  [/^\/v2\/session(\/|$)/, "anyone"],
  [/^\/(dashboard|assets|guides)\//, "anyone"],
  [/^\/llms(-full)?\.txt$/, "anyone"],
  [/^\/(docs.*|v2\/health(\/ready)?|v2\/openapi\.json)?$/, "anyone"],
];

export const ROUTES: readonly TestRoute[] = app.routes
  .filter(({ method }) => method !== "ALL")
  .map(({ method, path }) => {
    const audience = AUDIENCES.find(([pattern]) => pattern.test(path))?.[1];
    if (!audience) throw new Error(`${method} ${path} has no entry in AUDIENCES`);
    return { method, path, audience };
  });

/** The route's path with its parameters filled in. Throws when a parameter is missing. */
export const fill = ({ path }: TestRoute, values: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value for :${name} of ${path}`);
    return value;
  });
