// Accepts strings for numbers and booleans, because PHP and forms send them so. The schema decides where.
import type * as z from "zod";
import { valueAt, withValueAt } from "./value-at.ts";

/** A whole string that is a JSON number without an exponent. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[["true", true] as const, ["1", true] as const, [1, true] as const],
  ...[["false", false] as const, ["0", false] as const, [0, false] as const],
]);

/**
 * Parses like `schema.safeParse`, but also accepts strings for numbers (`"2.5"`) and booleans (`"true"`, `"false"`,
 * `"1"`, `"0"`, or 1 and 0). Other strings are errors as usual.
 */
export function parseLenient<Value>(schema: z.ZodType<Value>, value: unknown): z.ZodSafeParseResult<Value> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed;
  const read = readings(parsed.error.issues, value, []);
  if (read.length === 0) return parsed;
  return schema.safeParse(read.reduce((body, { path, meant }) => withValueAt(body, path, meant), value));
}

type Reading = { readonly path: readonly PropertyKey[]; readonly meant: number | boolean };

function readings(issues: readonly z.core.$ZodIssue[], root: unknown, base: readonly PropertyKey[]): Reading[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === "invalid_union") return issue.errors.flatMap((option) => readings(option, root, path));
    const meant = meantBy(issue, valueAt(root, path));
    return meant === undefined ? [] : [{ path, meant }];
  });
}

function meantBy(issue: z.core.$ZodIssue, given: unknown): number | boolean | undefined {
  if (issue.code === "invalid_type" && (issue.expected === "number" || issue.expected === "int")) {
    return typeof given === "string" && NUMBER.test(given) ? Number(given) : undefined;
  }
  const boolean = BOOLEANS.get(given);
  if (issue.code === "invalid_type" && issue.expected === "boolean") return boolean;
  return issue.code === "invalid_value" && boolean !== undefined && issue.values.includes(boolean)
    ? boolean
    : undefined;
}
