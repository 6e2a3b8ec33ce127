// Which methods an address has, by the routes themselves.

import { TrieRouter } from "hono/router/trie-router";
import type { RouterRoute } from "hono/types";

/** What answers a path's methods: none when nothing is there. Middleware is for all methods and does not count. */
export function allowedMethods(routes: readonly RouterRoute[]): (path: string) => readonly string[] {
  const router = new TrieRouter<string>();
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => {
    const methods = router.match("ALL", path)[0].map(([method]) => method);
    // Hono answers HEAD by the routes of GET.
    return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method)))].sort();
  };
}
