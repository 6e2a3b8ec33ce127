// GET /v2/autoscale. GET /metrics: the state of the fleet, and usage, for Prometheus.
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { type JobUsage, usageSince } from "../../db/usage/usage.ts";
import { dayOf } from "../../db/usage/usage-day.ts";
import { log } from "../../log.ts";
import { mount } from "../operation/mount.ts";
import { allPools, askAvailableHubs } from "./ask-hubs.ts";
import { autoscale } from "./autoscale.ts";
import { MONITOR_OPERATIONS } from "./fleet.operations.ts";
import { fleetMetrics } from "./fleet-metrics.ts";
import { FORMATS, formatFor, type Metric, printMetrics, type Sample } from "./metrics-text.ts";

export const monitoring = mount(MONITOR_OPERATIONS, {
  autoscale,
  metrics: async (context) => {
    const pools = await allPools(context.env);
    const { answers, unavailable } = await askAvailableHubs(context.env, pools, (hub) => hub.demand());
    const format = formatFor(context.req.header("accept"));
    const used = await usageOrNone(context.env);
    const text = printMetrics([...fleetMetrics(answers, unavailable, pools), ...used], format);
    return context.body(text, 200, { "content-type": FORMATS[format], "cache-control": "no-store" });
  },
});

/** While the database is unavailable, the metrics describe only the fleet. */
async function usageOrNone(env: Env): Promise<readonly Metric[]> {
  try {
    return usageMetrics(await usageSince(env.DB, firstDayOfMonth(Date.now())));
  } catch (error) {
    log.warn("usage not read", { error: messageOf(error) });
    return [];
  }
}

// Metrics of the usage of all accounts.

/**
 * Counters restart from 0 each month, as after a restart. The sum of all days would read ever more rows with each
 * request.
 */
export const firstDayOfMonth = (now: number): number => {
  const date = new Date(now);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
};

const SINCE = "since the start of the month (UTC).";

function usageMetrics(used: JobUsage): readonly Metric[] {
  const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name,
    help: `${help} ${SINCE}`,
    type: "counter",
    samples,
  });
  const ended = used.completed + used.failed + used.aborted;
  return [
    counter("copra_jobs", "Jobs that ended", [
      { labels: { status: "completed" }, value: used.completed },
      { labels: { status: "failed" }, value: used.failed },
      { labels: { status: "aborted" }, value: used.aborted },
    ]),
    {
      name: "copra_job_duration_seconds",
      help: `The time from creation or retry to the end of jobs ${SINCE}`,
      type: "summary",
      summaries: [{ labels: {}, count: ended, sum: used.lastedMs / 1000 }],
    },
    counter("copra_output_media_seconds", "The length of finished outputs", [
      { labels: { tier: "audio" }, value: used.audioMs / 1000 },
      { labels: { tier: "sd" }, value: used.sdMs / 1000 },
      { labels: { tier: "hd" }, value: used.hdMs / 1000 },
      { labels: { tier: "uhd" }, value: used.uhdMs / 1000 },
    ]),
    counter("copra_uploaded_bytes", "The size of the files of finished outputs", [
      { labels: {}, value: used.storedBytes },
    ]),
  ];
}
