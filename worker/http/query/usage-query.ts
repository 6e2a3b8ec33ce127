// The query of GET /v2/usage: the first and the last day, and a tag.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { TAG_PREFIX } from "#shared/job/tag-query.ts";
import { strictObject } from "#shared/strict-object.ts";
import { dayOf } from "../../db/usage/usage-day.ts";
import { parseQuery } from "./parse-query.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const BY_RULE = "must be a tag such as tag.tenant";
const DATE_RULE = "must be a date such as 2026-11-22";

export const UsageParameters = strictObject({
  from: z.iso
    .date(DATE_RULE)
    .optional()
    .describe(`The first day, in UTC; by default the days to \`to\` are ${DEFAULT_DAYS}`),
  to: z.iso.date(DATE_RULE).optional().describe(`The last day, in UTC; at most ${MAX_DAYS} days; today by default`),
  by: z
    .string(BY_RULE)
    .regex(/^tag\.[a-z0-9_.-]{1,40}$/, BY_RULE)
    .optional()
    .describe("A tag, such as `tag.tenant`: adds the usage by its values"),
});

/** The first and the last day, in days since 1970; the name of a tag. */
export type UsageQuery = { readonly from: number; readonly to: number; readonly tag: string | null };

/** Parses the query. Throws AppError(query_not_valid). */
export function parseUsageQuery(query: Record<string, string>, now: number): UsageQuery {
  const parsed = parseQuery(UsageParameters, query);
  const to = parsed.to === undefined ? dayOf(now) : dayOf(Date.parse(parsed.to));
  const from = parsed.from === undefined ? to - DEFAULT_DAYS + 1 : dayOf(Date.parse(parsed.from));
  if (from > to) throw notValid("must not be after `to`");
  if (to - from >= MAX_DAYS) throw notValid(`must be at most ${MAX_DAYS - 1} days before \`to\``);
  return { from, to, tag: parsed.by?.slice(TAG_PREFIX.length) ?? null };
}

const notValid = (rule: string): AppError => new AppError("query_not_valid", `The query parameter \`from\` ${rule}`);
