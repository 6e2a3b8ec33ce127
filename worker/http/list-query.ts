// The query of GET /v2/jobs: which jobs, how many, from where on.

import * as z from "zod";
import { JOB_STATUSES } from "#shared/job-status.ts";
import type { Place } from "../db/jobs.ts";
import { parseQuery } from "./parse-query.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export const ListParameters = z.strictObject({
  status: z
    .enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(", ")}`)
    .optional()
    .describe("Only jobs of this status"),
  limit: z.coerce
    .number(`must be a number from 1 to ${MAX_LIMIT}`)
    .int(`must be a whole number from 1 to ${MAX_LIMIT}`)
    .min(1, `must be 1 to ${MAX_LIMIT}`)
    .max(MAX_LIMIT, `must be 1 to ${MAX_LIMIT}`)
    .default(DEFAULT_LIMIT)
    .describe("How many jobs a page has at most"),
  cursor: z
    .string()
    .regex(/^\d{1,16}-[A-Za-z0-9]{14}$/, "must be the next_cursor of an earlier answer")
    .optional()
    .describe("The `next_cursor` of the page before"),
});

export type ListQuery = { status: string | null; limit: number; after: Place | null };

/** Parses the query. Throws AppError(query_not_valid). */
export function parseListQuery(query: Record<string, string>): ListQuery {
  const { status = null, limit, cursor } = parseQuery(ListParameters, query);
  const [createdAt, id] = cursor?.split("-") ?? [];
  return { status, limit, after: createdAt && id ? { createdAt: Number(createdAt), id } : null };
}

/** Where the next page begins; clients hand it back as it is. */
export const cursorOf = ({ createdAt, id }: Place): string => `${createdAt}-${id}`;
