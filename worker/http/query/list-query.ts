// The queries of GET /v2/jobs and GET /v2/jobs/counts: a filter of jobs, and a page of the list.
import * as z from "zod";
import { CURSOR_RULE, FILTER_FIELDS, type JobSort, ListCursor, Sort, Statuses } from "#shared/api/job-filter.ts";
import { AppError } from "#shared/errors.ts";
import type { JobStatus } from "#shared/job/job-status.ts";
import { TAG_PREFIX, takeTags } from "#shared/job/tag-query.ts";
import { TagFilter, type Tags } from "#shared/job/tags.ts";
import { strictObject } from "#shared/strict-object.ts";
import type { JobFilter, Place } from "../../db/jobs/job-filter.ts";
import type { Wanted } from "../../db/jobs/job-list.ts";
import { decimal, parseQuery } from "./parse-query.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

export const CountParameters = strictObject(FILTER_FIELDS);

export const ListParameters = strictObject({
  status: Statuses,
  ...FILTER_FIELDS,
  sort: Sort,
  limit: decimal(z.coerce.number(LIMIT_RULE).int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LIMIT, LIMIT_RULE))
    .default(DEFAULT_LIMIT)
    .describe("Maximum jobs per page"),
  cursor: ListCursor.optional().describe("The `next_cursor` of the previous page in the same order"),
});

type Fields = z.output<typeof CountParameters> & { readonly tags?: Tags | undefined };

/** The filter of parsed fields. */
export const filterOf = (fields: Fields, statuses: readonly JobStatus[], sort: JobSort = "created"): JobFilter => ({
  sort,
  statuses,
  text: fields.q?.toLowerCase() ?? null,
  from: fields.created_after ?? null,
  before: fields.created_before ?? null,
  tags: Object.entries(fields.tags ?? {}),
});

/** Parses the query. Throws AppError(query_not_valid). */
export function parseListQuery(query: Record<string, string>): Wanted {
  const { tags, rest } = parseTagQuery(query);
  const { status = [], sort, limit, cursor, ...fields } = parseQuery(ListParameters, rest);
  if (cursor !== undefined && (cursor.includes(".") ? cursor.split(".")[0] : "created") !== sort)
    throw new AppError("query_not_valid", `The query parameter \`cursor\` ${CURSOR_RULE} with the same \`sort\``);
  return { filter: filterOf({ ...fields, tags }, status, sort), limit, after: placeOf(cursor) };
}

/** Parses the query. Throws AppError(query_not_valid). */
export function parseCountQuery(query: Record<string, string>): JobFilter {
  const { tags, rest } = parseTagQuery(query);
  return filterOf({ ...parseQuery(CountParameters, rest), tags }, []);
}

/** The parameters `tag.<name>`, and all others. Throws AppError(query_not_valid). */
function parseTagQuery(query: Record<string, string>): { tags: Tags; rest: Record<string, string> } {
  const { tags, rest } = takeTags(query);
  // Schemas ignore this name.
  if (Object.hasOwn(tags, "__proto__"))
    throw new AppError("query_not_valid", "The query parameter `tag.__proto__` must have the name of a tag");
  return { tags: parseQuery(TagFilter, tags, TAG_PREFIX), rest };
}

const prefixOf = (sort: JobSort): string => (sort === "created" ? "" : `${sort}.`);

/** The start of the next page. Clients send it back unchanged. */
export const cursorOf = ({ at, id }: Place, sort: JobSort = "created"): string => `${prefixOf(sort)}${at}-${id}`;

/** The place of a cursor; null: the start of the list. */
export function placeOf(cursor: string | undefined): Place | null {
  const [at, id] = cursor?.split(".").at(-1)?.split("-") ?? [];
  return at && id ? { at: Number(at), id } : null;
}
