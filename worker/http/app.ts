// The HTTP surface: every route of the service, and the answer to what is none.
import { Hono } from "hono";
import type { Env } from "../env.ts";
import { discardBody } from "./body/discard-body.ts";
import { answerHeaders } from "./response-headers.ts";
import { allowedMethods } from "./responses/allowed-methods.ts";
import { onError, problem } from "./responses/problem.ts";
import { admin } from "./routes/admin.ts";
import { docs, home } from "./routes/docs.ts";
import { health } from "./routes/health.ts";
import { jobs } from "./routes/jobs.ts";
import { metadata } from "./routes/metadata.ts";
import { nodes } from "./routes/nodes.ts";
import { openapi } from "./routes/openapi.ts";
import { storage } from "./routes/storage.ts";

export const app = new Hono<{ Bindings: Env }>({ strict: false })
  .use(answerHeaders)
  .use(discardBody)
  .route("/", home)
  .route("/docs", docs)
  .route("/v2/health", health)
  .route("/v2/openapi.json", openapi)
  .route("/v2/jobs", jobs)
  .route("/v2/metadata/jobs", metadata)
  .route("/v2/nodes", nodes)
  .route("/v2/admin", admin)
  .route("/storage", storage);

app.onError(onError);

const methodsAt = allowedMethods(app.routes);

app.notFound((context) => {
  const { method, path } = context.req;
  const methods = methodsAt(path);
  if (methods.length === 0) return problem(context, "route_not_found", `There is nothing at ${path}`);
  const allowed = methods.join(", ");
  context.header("allow", allowed);
  return problem(context, "method_not_allowed", `${method} is not allowed here; allowed: ${allowed}`);
});
