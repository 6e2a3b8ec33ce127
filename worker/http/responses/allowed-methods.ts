// The methods of each path, from the routes.

import { TrieRouter } from "hono/router/trie-router";
import type { RouterRoute } from "hono/types";

/** A function that returns the methods of a path; none for an unknown path. Ignores middleware, which has no method. */
export function allowedMethods(routes: readonly RouterRoute[]): (path: string) => readonly string[] {
  const router = new TrieRouter<string>();
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => {
    const methods = router.match("ALL", path)[0].map(([method]) => method);
    // Hono uses the routes of GET for HEAD.
    return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method)))].sort();
  };
}
