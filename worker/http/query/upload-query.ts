// The query of GET /v2/uploads.
import * as z from "zod";
import { strictObject } from "#shared/strict-object.ts";
import { decimal, parseQuery } from "./parse-query.ts";

const LIMIT_RULE = "must be a whole number from 1 to 100";

export const UploadListParameters = strictObject({
  limit: decimal(z.coerce.number(LIMIT_RULE).int(LIMIT_RULE).min(1, LIMIT_RULE).max(100, LIMIT_RULE))
    .default(20)
    .describe("Maximum uploads per page"),
  cursor: z
    .string()
    .regex(/^\d{1,16}-[A-Za-z0-9]{20}$/, "must be the `next_cursor` of a previous response")
    .optional()
    .describe("The `next_cursor` of the previous page"),
});

type Place = { readonly createdAt: number; readonly id: string };

/** Parses the query. Throws AppError(query_not_valid). */
export function parseUploadQuery(query: Record<string, string>): { limit: number; after: Place | null } {
  const { limit, cursor } = parseQuery(UploadListParameters, query);
  const [createdAt, id] = cursor?.split("-") ?? [];
  return { limit, after: createdAt && id ? { createdAt: Number(createdAt), id } : null };
}
