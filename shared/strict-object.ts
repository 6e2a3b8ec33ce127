// Objects in a request that reject unknown fields.
import * as z from "zod";
import { excerpt } from "./excerpt.ts";
import { nearest } from "./nearest.ts";

/** Names that other services and languages use for fields of this API. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...["filename", "file", "file_name", "output", "name", "destination"].map((name) => [name, "path"] as const),
  ...["start", "start_time", "seek", "ss", "from"].map((name) => [name, "offset"] as const),
  ...["length", "time", "t"].map((name) => [name, "duration"] as const),
  ...["count", "num", "amount"].map((name) => [name, "number"] as const),
  ...["condition", "when", "only_if"].map((name) => [name, "if"] as const),
  ...["rotate", "rotation"].map((name) => [name, "transpose"] as const),
  ...["uri", "href", "link", "webhook", "source", "src", "address"].map((name) => [name, "url"] as const),
  ...["bucket_name", "container"].map((name) => [name, "bucket"] as const),
  ...["bucket", "container_name"].map((name) => [name, "container"] as const),
  ...["host", "hostname", "server"].map((name) => [name, "endpoint"] as const),
  ...["prefix", "folder", "directory", "dir"].map((name) => [name, "path"] as const),
  ...["location", "aws_region"].map((name) => [name, "region"] as const),
  ...["object", "object_key", "file_key"].map((name) => [name, "key"] as const),
  ...["arn", "topic"].map((name) => [name, "topic_arn"] as const),
]);

type Hints = {
  /** The error message for a value that is not an object. */
  readonly wanted?: string;
  /** Fields that belong elsewhere, each with a hint to its place. */
  readonly elsewhere?: Readonly<Record<string, string>>;
};

/**
 * Creates a zod object of exactly these fields. The error for an unknown field names it, the probable field, and the
 * allowed fields.
 */
export const strictObject = <Shape extends z.ZodRawShape>(
  shape: Shape,
  { wanted = "must be an object", elsewhere = {} }: Hints = {},
) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return wanted;
      const [unknown = ""] = issue.keys;
      return unknownField(unknown, Object.keys(shape), elsewhere);
    },
  });

/** Returns the error message for an unknown field. */
export function unknownField(
  name: string,
  known: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): string {
  const moved = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
  const other = OTHER_NAMES.get(name.toLowerCase());
  const meant = other !== undefined && known.includes(other) ? other : nearest(name, known);
  const allowed = known.join(", ");
  const sentence = `has no field \`${excerpt(name)}\``;
  if (moved !== undefined) return `${sentence}; ${moved}; allowed: ${allowed}`;
  return meant === null
    ? `${sentence}; allowed: ${allowed}`
    : `${sentence}; did you mean \`${meant}\`? Allowed: ${allowed}`;
}
