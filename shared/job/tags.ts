// Tags of a job: names and values that clients choose, to find and to sum up jobs.
import * as z from "zod";
import type { Failure } from "../errors.ts";
import { MAX_FILTER_TAGS, TAG_NAME } from "./tag-query.ts";

export const MAX_TAGS = 20;
const MAX_VALUE = 256;

const NAME_RULE = "must have names of 1 to 40 of the characters a-z, 0-9, `_`, `.` and `-`";
const VALUE_RULE = `must be a string of at most ${MAX_VALUE} characters, without control characters`;

const TagName = z.string().regex(TAG_NAME);
const TagValue = z
  .string(VALUE_RULE)
  .max(MAX_VALUE, VALUE_RULE)
  .regex(/^\P{Cc}*$/u, VALUE_RULE);

const tagRecord = <Value extends z.ZodType>(value: Value, max: number, wanted: string) =>
  z
    .record(TagName, value, { error: ({ code }) => (code === "invalid_key" ? NAME_RULE : wanted) })
    .refine((tags) => Object.keys(tags).length <= max, `must have at most ${max} tags`);

const WANTED = 'must be an object of names and strings, such as {"order":"7"}';

/** The tags of a request. */
export const TagsBody = tagRecord(TagValue, MAX_TAGS, WANTED).describe(
  `Names and values to find the job by: up to ${MAX_TAGS}, names of \`a-z\`, \`0-9\`, \`_\`, \`.\` and \`-\`, values up to ${MAX_VALUE} characters`,
);

/** Changes of tags; null removes a tag. */
export const TagChanges = tagRecord(TagValue.nullable(), 2 * MAX_TAGS, WANTED).describe(
  "Tags to set; null removes a tag. Other tags stay",
);
export type TagChanges = z.infer<typeof TagChanges>;

/** Tags that jobs of a list must have, all of them. */
export const TagFilter = tagRecord(TagValue, MAX_FILTER_TAGS, WANTED).describe(
  `Only jobs with all of these tags; at most ${MAX_FILTER_TAGS}`,
);

/** Tags as jobs store and show them. */
export const Tags = z.record(z.string(), z.string()).describe("The job's tags; absent without tags");
export type Tags = z.infer<typeof Tags>;

/** The tags in the index of jobs. */
export const tagsText = (tags: Tags | undefined): string | null => (tags === undefined ? null : JSON.stringify(tags));

/** The error for changes after which a job would have too many tags. */
export const TOO_MANY_TAGS: Failure = { code: "tags_not_valid", message: `A job has at most ${MAX_TAGS} tags` };

/** Returns the tags after changes; undefined if none remain. */
export function changedTags(tags: Tags | undefined, changes: TagChanges): Tags | undefined {
  const entries = Object.entries({ ...tags, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
