// The queries of uploads, upload links and the audit, and their pages.
import * as z from "zod";
import { text } from "#shared/request/parse-section.ts";
import { strictObject } from "#shared/strict-object.ts";
import { cursorOf } from "./list-query.ts";
import { decimal, parseQuery } from "./parse-query.ts";

const LIMIT_RULE = "must be a whole number from 1 to 100";

export const UploadListParameters = strictObject({
  limit: decimal(z.coerce.number(LIMIT_RULE).int(LIMIT_RULE).min(1, LIMIT_RULE).max(100, LIMIT_RULE))
    .default(20)
    .describe("Maximum entries per page"),
  cursor: z
    .string()
    .regex(/^\d{1,16}-[A-Za-z0-9]{14,20}$/, "must be the `next_cursor` of a previous response")
    .optional()
    .describe("The `next_cursor` of the previous page"),
});

export const AuditParameters = UploadListParameters.extend({
  actor: text(40).optional().describe("Only changes by the API key with this id, or by the `operator`"),
  action: text(40).optional().describe("Only this operation, such as `cancelJob`"),
  object: text(200)
    .optional()
    .describe("Only this thing, such as `jobs/3clA7G2GY8bXR5`, or all things of a kind: `jobs`"),
});

type Place = { readonly createdAt: number; readonly id: string };
type Wanted = { readonly after: Place | null; readonly limit: number; readonly now: number };

/** Reads the page of a query, with the cursor of the next page. Throws AppError(query_not_valid). */
export async function readPage<Row extends Place, Fields extends z.output<typeof UploadListParameters>>(
  schema: z.ZodType<Fields>,
  query: Record<string, string>,
  read: (wanted: Omit<Fields, "limit" | "cursor"> & Wanted) => Promise<Row[]>,
): Promise<{ page: Row[]; next_cursor: string | null }> {
  const { limit, cursor, ...fields } = parseQuery(schema, query);
  const [createdAt, id] = cursor?.split("-") ?? [];
  const after = createdAt && id ? { createdAt: Number(createdAt), id } : null;
  const rows = await read({ ...fields, after, limit: limit + 1, now: Date.now() });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next_cursor: last ? cursorOf({ at: last.createdAt, id: last.id }) : null };
}
