// The service's routes for tests, read from the app, so that new routes are tested automatically.
import { app } from "../http/app.ts";
import { OPERATIONS } from "../http/openapi/operations.ts";
import { type Access, isForKeys } from "../http/operation/operation.ts";

/** The users of a route. */
export type Audience = "client" | "node" | "operator" | "anyone";

export type TestRoute = { readonly method: string; readonly path: string; readonly audience: Audience };

/** The audience for each start of a path without an operation. Such a route without an entry fails all tests. */
const AUDIENCES: readonly [RegExp, Audience][] = [
  [/^\/v2\/nodes\//, "node"],
  // Signed URLs, ids that cannot be guessed, and a token in the path. The tests of the route cover them.
  [/^(\/storage|\/v2\/links|\/v2\/ingest)\//, "anyone"],
  [/^\/(dashboard|assets|guides|docs)\//, "anyone"],
  [/^\/llms(-full)?\.txt$/, "anyone"],
  [/^\/$/, "anyone"],
];

function audienceOf(access: Access): Audience {
  if (isForKeys(access)) return "client";
  return access === "operator" || access === "monitor" ? "operator" : "anyone";
}

const audienceAt = (path: string): Audience => {
  const audience = AUDIENCES.find(([pattern]) => pattern.test(path))?.[1];
  if (!audience) throw new Error(`${path} has neither an operation nor an entry in AUDIENCES`);
  return audience;
};

const accessOf: ReadonlyMap<string, Access> = new Map(OPERATIONS.map(({ route, access }) => [route, access]));

const served = new Set(
  app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`),
);
export const ROUTES: readonly TestRoute[] = [...served].map((route) => {
  const [method = "", path = ""] = route.split(" ");
  const access = accessOf.get(route);
  return { method, path, audience: access ? audienceOf(access) : audienceAt(path) };
});

/** The route's path with its parameters filled in. Throws when a parameter is missing. */
export const fill = ({ path }: Pick<TestRoute, "path">, values: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value for :${name} of ${path}`);
    return value;
  });
