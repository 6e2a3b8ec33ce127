// The queries of GET /v2/jobs and GET /v2/jobs/counts: a filter of jobs, and a page of the list.
import * as z from "zod";
import { CursorText, FILTER_FIELDS, Statuses } from "#shared/api/job-filter.ts";
import type { JobStatus } from "#shared/job/job-status.ts";
import { TAG_PREFIX, takeTags } from "#shared/job/tag-query.ts";
import { TagFilter, type Tags } from "#shared/job/tags.ts";
import { strictObject } from "#shared/strict-object.ts";
import type { JobFilter, Place } from "../../db/job-filter.ts";
import type { Wanted } from "../../db/job-list.ts";
import { decimal, parseQuery } from "./parse-query.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

export const CountParameters = strictObject(FILTER_FIELDS);

export const ListParameters = strictObject({
  status: Statuses.optional(),
  ...FILTER_FIELDS,
  limit: decimal(z.coerce.number(LIMIT_RULE).int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LIMIT, LIMIT_RULE))
    .default(DEFAULT_LIMIT)
    .describe("Maximum jobs per page"),
  cursor: CursorText.optional().describe("The `next_cursor` of the previous page"),
});

type Fields = z.output<typeof CountParameters> & { readonly tags?: Tags | undefined };

/** The filter of parsed fields. */
export const filterOf = (fields: Fields, statuses: readonly JobStatus[]): JobFilter => ({
  statuses,
  text: fields.q?.toLowerCase() ?? null,
  from: fields.created_after ?? null,
  before: fields.created_before ?? null,
  tags: Object.entries(fields.tags ?? {}),
});

/** Parses the query. Throws AppError(query_not_valid). */
export function parseListQuery(query: Record<string, string>): Wanted {
  const { tags, rest } = parseTagQuery(query);
  const { status = [], limit, cursor, ...fields } = parseQuery(ListParameters, rest);
  return { filter: filterOf({ ...fields, tags }, status), limit, after: placeOf(cursor) };
}

/** Parses the query. Throws AppError(query_not_valid). */
export function parseCountQuery(query: Record<string, string>): JobFilter {
  const { tags, rest } = parseTagQuery(query);
  return filterOf({ ...parseQuery(CountParameters, rest), tags }, []);
}

/** The parameters `tag.<name>`, and all others. Throws AppError(query_not_valid). */
function parseTagQuery(query: Record<string, string>): { tags: Tags; rest: Record<string, string> } {
  const { tags, rest } = takeTags(query);
  return { tags: parseQuery(TagFilter, tags, TAG_PREFIX), rest };
}

/** The start of the next page. Clients send it back unchanged. */
export const cursorOf = ({ createdAt, id }: Place): string => `${createdAt}-${id}`;

/** The place of a cursor; null: the start of the list. */
export function placeOf(cursor: string | undefined): Place | null {
  const [createdAt, id] = cursor?.split("-") ?? [];
  return createdAt && id ? { createdAt: Number(createdAt), id } : null;
}
