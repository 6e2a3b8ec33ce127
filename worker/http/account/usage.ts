// GET /v2/usage: the usage of an account, by day, and by the values of a tag.
import type { Context } from "hono";
import type { Usage, UsageTotal } from "#shared/api/account-responses.ts";
import { MAX_VALUES, usageByTag } from "../../db/usage/tag-usage.ts";
import { type JobUsage, sumUsage, usageByDay } from "../../db/usage/usage.ts";
import { DAY_MS } from "../../db/usage/usage-day.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { parseUsageQuery } from "../query/usage-query.ts";
import { jsonResponse } from "../responses/json-response.ts";

export async function getUsage(context: Context<ClientEnv>): Promise<Response> {
  const { tag, ...days } = parseUsageQuery(context.req.query(), Date.now());
  const { from, to } = days;
  const [db, { id }] = [context.env.DB, context.get("account")];
  const used = await usageByDay(db, id, days);
  const byTag = tag === null ? null : await usageByTag(db, id, tag, days);
  const byDay = new Map(used.map((row) => [row.day, row]));
  return jsonResponse(context, {
    from: dateOf(from),
    to: dateOf(to),
    days: Array.from({ length: to - from + 1 }, (_, at) => from + at).map((day) => ({
      day: dateOf(day),
      ...viewUsage(byDay.get(day) ?? sumUsage([])),
    })),
    total: viewUsage(sumUsage(used)),
    ...(byTag && {
      values: byTag.map(({ value, ...usage }) => ({ value, ...viewUsage(usage) })),
      capped: byTag.length === MAX_VALUES,
    }),
  } satisfies Usage);
}

/** YYYY-MM-DD */
const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const viewUsage = (used: JobUsage): UsageTotal => ({
  jobs: { completed: used.completed, failed: used.failed, cancelled: used.aborted },
  output_seconds: { audio: used.audioMs / 1000, sd: used.sdMs / 1000, hd: used.hdMs / 1000, uhd: used.uhdMs / 1000 },
  node_seconds: used.nodeMs / 1000,
  stored_bytes: used.storedBytes,
});
