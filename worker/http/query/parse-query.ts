// Parses query parameters.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";

/**
 * Parses the query of a request. Throws AppError(query_not_valid), whose message names the parameter and its allowed
 * values. `prefix` comes before the names of the schema.
 */
export function parseQuery<Value>(
  schema: z.ZodType<Value>,
  query: Readonly<Record<string, string>>,
  prefix = "",
): Value {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = prefix + (issue?.path.join(".") ?? "");
  throw new AppError(
    "query_not_valid",
    `The query ${name ? `parameter \`${name}\` ` : ""}${issue?.message ?? "is not valid"}`,
  );
}

/** A number in decimal digits. JavaScript would also accept `0x10`, `1e1` and an empty string. */
export const decimal = (number: z.ZodCoercedNumber) =>
  z.preprocess((text) => (typeof text === "string" && !/^\d+(?:\.\d+)?$/.test(text) ? Number.NaN : text), number);
