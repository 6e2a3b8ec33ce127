// GET /v2/usage: the usage of an account, by day.
import { Hono } from "hono";
import type { Usage, UsageTotal } from "#shared/api/account-responses.ts";
import { type JobUsage, sumUsage, usageByDay } from "../../db/usage.ts";
import { DAY_MS } from "../../db/usage-day.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { parseUsageQuery } from "../query/usage-query.ts";
import { jsonResponse } from "../responses/json-response.ts";

export const usage = new Hono<ClientEnv>({ strict: false }).use(clientAuth).get("/", async (context) => {
  const now = Date.now();
  const { from, to } = parseUsageQuery(context.req.query(), now);
  const used = await usageByDay(context.env.DB, context.get("account").id, { from, to, now });
  const byDay = new Map(used.map((one) => [one.day, one]));
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return jsonResponse(context, {
    from: dateOf(from),
    to: dateOf(to),
    days: days.map((day) => ({ day: dateOf(day), ...viewUsage(byDay.get(day) ?? sumUsage([])) })),
    total: viewUsage(sumUsage(used)),
  } satisfies Usage);
});

/** YYYY-MM-DD */
const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const viewUsage = (used: JobUsage): UsageTotal => ({
  jobs: { completed: used.completed, failed: used.failed, cancelled: used.aborted },
  output_seconds: {
    audio: used.audioMs / 1000,
    sd: used.sdMs / 1000,
    hd: used.hdMs / 1000,
    uhd: used.uhdMs / 1000,
  },
  node_seconds: used.nodeMs / 1000,
  stored_bytes: used.storedBytes,
});
