// GET /metrics: the state of the fleet, and what was used, for Prometheus.
import { Hono } from "hono";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../../bindings.ts";
import { usageSince } from "../../../db/usage.ts";
import { log } from "../../../log.ts";
import { type AdminEnv, monitorAuth } from "../../auth/auth.ts";
import { allPools, askAvailableHubs } from "../../fleet/ask-hubs.ts";
import { fleetMetrics } from "../../fleet/fleet-metrics.ts";
import { FORMATS, formatFor, type Metric, printMetrics } from "../../fleet/metrics-text.ts";
import { firstDayOfMonth, usageMetrics } from "../../fleet/usage-metrics.ts";

export const metrics = new Hono<AdminEnv>({ strict: false }).use(monitorAuth).get("/", async (context) => {
  const pools = await allPools(context.env);
  const { answers, unavailable } = await askAvailableHubs(context.env, pools, (hub) =>
    hub.demand(context.env.HUBS ?? ""),
  );
  const format = formatFor(context.req.header("accept"));
  const used = await usageOrNone(context.env);
  const text = printMetrics([...fleetMetrics(answers, unavailable, pools), ...used], format);
  return context.body(text, 200, { "content-type": FORMATS[format], "cache-control": "no-store" });
});

/** While the database is unavailable, only the fleet is reported. */
async function usageOrNone(env: Env): Promise<readonly Metric[]> {
  try {
    return usageMetrics(await usageSince(env.DB, firstDayOfMonth(Date.now())));
  } catch (error) {
    log.warn("usage not read", { error: messageOf(error) });
    return [];
  }
}
