import type * as z from "zod";
import { AppError } from "#shared/errors.ts";

/** Parses the query of a request. Throws AppError(query_not_valid), whose message names the parameter and what is allowed. */
export function parseQuery<Value>(schema: z.ZodType<Value>, query: Readonly<Record<string, string>>): Value {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = issue?.path.join(".");
  throw new AppError(
    "query_not_valid",
    `The query ${name ? `parameter \`${name}\` ` : ""}${issue?.message ?? "is not valid"}`,
  );
}
