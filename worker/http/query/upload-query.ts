// The query of GET /v2/uploads and GET /v2/upload-links. Their pages, and pages of the audit.
import * as z from "zod";
import { strictObject } from "#shared/strict-object.ts";
import { cursorOf } from "./list-query.ts";
import { decimal } from "./parse-query.ts";

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

type Place = { readonly createdAt: number; readonly id: string };
export type Wanted = { readonly after: Place | null; readonly limit: number; readonly now: number };

/** Reads a page, with the cursor of the next page. */
export async function readPage<Row extends Place>(
  { limit, cursor }: z.output<typeof UploadListParameters>,
  read: (wanted: Wanted) => Promise<Row[]>,
): Promise<{ page: Row[]; next_cursor: string | null }> {
  const [createdAt, id] = cursor?.split("-") ?? [];
  const after = createdAt && id ? { createdAt: Number(createdAt), id } : null;
  const rows = await read({ after, limit: limit + 1, now: Date.now() });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next_cursor: last ? cursorOf({ at: last.createdAt, id: last.id }) : null };
}
