// The HTTP API: all routes, and the responses for unknown routes and methods.
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { RouterRoute } from "hono/types";
import type { Env } from "../bindings.ts";
import { account } from "./account/account.ts";
import { notifications } from "./account/notifications.ts";
import { session } from "./account/session.ts";
import { adminAlerts } from "./alerts/admin-alerts.ts";
import { discardBody } from "./body/discard-body.ts";
import { storages } from "./documents/storages.ts";
import { templateTokens } from "./documents/template-tokens.ts";
import { templates } from "./documents/templates.ts";
import { adminNodes } from "./fleet/admin-nodes.ts";
import { health } from "./fleet/health.ts";
import { monitoring } from "./fleet/metrics.ts";
import { nodes } from "./fleet/nodes.ts";
import { requireSetup } from "./fleet/setup.ts";
import { ingest } from "./ingest/ingest.ts";
import { jobFacts } from "./jobs/job-facts.ts";
import { jobLists } from "./jobs/job-lists.ts";
import { jobs } from "./jobs/jobs.ts";
import { metadata } from "./jobs/metadata.ts";
import { probes } from "./jobs/probes.ts";
import { admin } from "./operator/admin.ts";
import { assets, dashboard } from "./pages/dashboard.ts";
import { docs, guideFiles, home, llms } from "./pages/docs.ts";
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
  .route("/", docs)
  .route("/guides", guideFiles)
  .route("/", llms)
  .use(requireSetup)
  .route("/", home)
  .route("/dashboard", dashboard)
  .route("/assets", assets)
  .route("/", health)
  // Its paths are more special than `/v2/jobs/:id`.
  .route("/", jobLists)
  .route("/", jobs)
  .route("/", jobFacts)
  .route("/", probes)
  .route("/", templates)
  .route("/", templateTokens)
  .route("/", storages)
  .route("/", ingest)
  .route("/", uploads)
  .route("/", uploadLinks)
  .route("/v2/links", links)
  .route("/", metadata)
  .route("/", account)
  .route("/", session)
  .route("/v2/nodes", nodes)
  .route("/", notifications)
  .route("/", admin)
  .route("/", adminNodes)
  .route("/", adminAlerts)
  .route("/", monitoring)
  .route("/", storage);

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
