// The HTTP API: all routes, and the responses for unknown routes and methods.
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { RouterRoute } from "hono/types";
import type { Env } from "../bindings.ts";
import { accountEvents } from "./account/account-events.ts";
import { fonts } from "./account/fonts.ts";
import { account, notifications } from "./account/notifications.ts";
import { session } from "./account/session.ts";
import { usage } from "./account/usage.ts";
import { discardBody } from "./body/discard-body.ts";
import { assets, dashboard } from "./dashboard/dashboard.ts";
import { docs, guideFiles, home, llms, openapi } from "./docs/docs.ts";
import { storages } from "./documents/storages.ts";
import { templateTokens } from "./documents/template-tokens.ts";
import { templates } from "./documents/templates.ts";
import { autoscale } from "./fleet/autoscale.ts";
import { health } from "./fleet/health.ts";
import { metrics } from "./fleet/metrics.ts";
import { nodes } from "./fleet/nodes.ts";
import { requireSetup } from "./fleet/setup.ts";
import { ingest } from "./ingest/ingest.ts";
import { jobs } from "./jobs/jobs.ts";
import { metadata } from "./jobs/metadata.ts";
import { probes } from "./jobs/probes.ts";
import { admin } from "./operator/admin.ts";
import { errorResponse, onError } from "./responses/json-response.ts";
import { responseHeaders } from "./responses/response-headers.ts";
import { links } from "./upload-links/link-routes.ts";
import { uploadLinks } from "./upload-links/upload-links.ts";
import { storage } from "./uploads/storage.ts";
import { uploads } from "./uploads/uploads.ts";

export const app = new Hono<{ Bindings: Env }>({ strict: false })
  .use(responseHeaders)
  .use(discardBody)
  // These pages need neither settings nor the database.
  .route("/docs", docs)
  .route("/guides", guideFiles)
  .route("/", llms)
  .route("/v2/openapi.json", openapi)
  .use(requireSetup)
  .route("/", home)
  .route("/dashboard", dashboard)
  .route("/assets", assets)
  .route("/v2/health", health)
  .route("/v2/jobs", jobs)
  .route("/v2/probes", probes)
  .route("/v2/templates", templates)
  .route("/v2/templates", templateTokens)
  .route("/v2/storages", storages)
  .route("/v2/ingest", ingest)
  .route("/v2/uploads", uploads)
  .route("/v2/upload-links", uploadLinks)
  .route("/v2/links", links)
  .route("/v2/metadata/jobs", metadata)
  .route("/v2/usage", usage)
  .route("/v2/fonts", fonts)
  .route("/v2/events", accountEvents)
  .route("/v2/session", session)
  .route("/v2/nodes", nodes)
  .route("/v2/notifications", notifications)
  .route("/v2/account", account)
  .route("/v2/admin", admin)
  .route("/v2/autoscale", autoscale)
  .route("/metrics", metrics)
  .route("/storage", storage);

app.onError(onError);

const methodsAt = allowedMethods(app.routes);

app.notFound((context) => {
  const { method, path } = context.req;
  const methods = methodsAt(path);
  if (methods.length === 0) {
    const ours = path.replace(/^(?:\/v\d+)?\//, "/v2/");
    const hint = ours !== path && methodsAt(ours).length > 0 ? `; did you mean ${ours}?` : "";
    return errorResponse(context, "route_not_found", `There is no resource at ${path}${hint}`);
  }
  const allowed = methods.join(", ");
  context.header("allow", allowed);
  return errorResponse(context, "method_not_allowed", `${method} is not supported at this URL; allowed: ${allowed}`);
});

// The methods of each path, from the routes.

/**
 * Returns a function that lists the methods of a path; none for an unknown path. Ignores middleware, which has no
 * method.
 */
function allowedMethods(routes: readonly RouterRoute[]): (path: string) => readonly string[] {
  const router = new TrieRouter<string>();
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => {
    const methods = router.match("ALL", path)[0].map(([method]) => method);
    // Hono uses the routes of GET for HEAD.
    return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method)))].sort();
  };
}
