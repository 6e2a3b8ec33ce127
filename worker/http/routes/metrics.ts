// GET /metrics: the state of the fleet for Prometheus.
import { Hono } from "hono";
import { type AdminEnv, monitorAuth } from "../auth/auth.ts";
import { allPools, askAvailableHubs } from "../fleet/ask-hubs.ts";
import { fleetMetrics } from "../fleet/fleet-metrics.ts";
import { FORMATS, formatFor, printMetrics } from "../fleet/metrics-text.ts";

export const metrics = new Hono<AdminEnv>({ strict: false }).use(monitorAuth).get("/", async (context) => {
  const pools = await allPools(context.env);
  const { answers, unavailable } = await askAvailableHubs(context.env, pools, (hub) =>
    hub.demand(context.env.HUBS ?? ""),
  );
  const format = formatFor(context.req.header("accept"));
  const text = printMetrics(fleetMetrics(answers, unavailable, pools), format);
  return context.body(text, 200, { "content-type": FORMATS[format], "cache-control": "no-store" });
});
