// GET /v2/autoscale: how much work runs and waits, for what adds and removes machines.
import { Hono } from "hono";
import type { Autoscale } from "#shared/api/node-responses.ts";
import { type AdminEnv, monitorAuth } from "../../auth/auth.ts";
import { allPools, askHubs } from "../../fleet/ask-hubs.ts";
import { viewAutoscale } from "../../fleet/autoscale-view.ts";
import { jsonResponse } from "../../responses/json-response.ts";

export const autoscale = new Hono<AdminEnv>({ strict: false }).use(monitorAuth).get("/", async (context) => {
  const pools = await allPools(context.env);
  // Of all hubs or none: numbers that are too low would remove machines that have work.
  const reports = await askHubs(context.env, pools, (hub) => hub.demand(context.env.HUBS ?? ""));
  const queues = reports.flatMap((report) => report.queues);
  return jsonResponse(context, viewAutoscale(queues, pools) satisfies Autoscale);
});
