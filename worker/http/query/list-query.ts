// The query of GET /v2/jobs: filter and page.

import * as z from "zod";
import { JOB_STATUSES } from "#shared/job/job-status.ts";
import { strictObject } from "#shared/strict-object.ts";
import type { Place } from "../../db/job-list.ts";
import { decimal, parseQuery } from "./parse-query.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

export const ListParameters = strictObject({
  status: z
    .enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(", ")}`)
    .optional()
    .describe("Only jobs with this status"),
  limit: decimal(z.coerce.number(LIMIT_RULE).int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LIMIT, LIMIT_RULE))
    .default(DEFAULT_LIMIT)
    .describe("Maximum jobs per page"),
  cursor: z
    .string()
    .regex(/^\d{1,16}-[A-Za-z0-9]{14}$/, "must be the `next_cursor` of a previous response")
    .optional()
    .describe("The `next_cursor` of the previous page"),
});

export type ListQuery = { status: string | null; limit: number; after: Place | null };

/** Parses the query. Throws AppError(query_not_valid). */
export function parseListQuery(query: Record<string, string>): ListQuery {
  const { status = null, limit, cursor } = parseQuery(ListParameters, query);
  const [createdAt, id] = cursor?.split("-") ?? [];
  return { status, limit, after: createdAt && id ? { createdAt: Number(createdAt), id } : null };
}

/** The start of the next page; clients send it back unchanged. */
export const cursorOf = ({ createdAt, id }: Place): string => `${createdAt}-${id}`;
