// GET /v2/health: the health of the service and the number of connected nodes. Public.
import { Hono } from "hono";
import type { Env } from "../../bindings.ts";
import { hubOf } from "../../rpc/hub.ts";
import type { Health } from "../response-schemas.ts";
import { jsonResponse } from "../responses/json-response.ts";

/** How long to cache the response of the hub, because the route is public and there is only one hub. */
const KEEP_MS = 1000;
let last: { at: number; nodes: number } | null = null;

export const health = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  const now = Date.now();
  if (!last || now - last.at > KEEP_MS) last = { at: now, nodes: (await hubOf(context.env).stats()).nodes };
  return jsonResponse(context, { status: "ok", nodes: last.nodes } satisfies Health);
});
