// Parses a section of a request. Errors name the field, the mistake and the allowed values.
import * as z from "zod";
import type { ErrorCode, Failure } from "../errors.ts";
import { excerpt } from "../excerpt.ts";
import { err, ok, type Result } from "../result.ts";
import { valueAt, withValueAt } from "./value-at.ts";

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A validation error. */
export const invalid = (code: ErrorCode, message: string) => err<Failure>({ code, message });

type Section<Value> = {
  readonly schema: z.ZodType<Value>;
  readonly value: unknown;
  /** Path of the section in the body; empty for the body itself. */
  readonly path: string;
  readonly code: ErrorCode;
};

/**
 * Parses a section of a client's request. The error names the field by its path in the body, the mistake and the
 * allowed values. Numbers and booleans may be strings (`parseLenient`).
 */
export function parseSection<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  path: string,
  code: ErrorCode,
): Result<Value> {
  return outcomeOf(parseLenient(schema, value), { schema, value, path, code });
}

/** Parses requests of this system's own programs: a number must be a number. */
export const parseStrictly = <Value>(section: Section<Value>): Result<Value> =>
  outcomeOf(section.schema.safeParse(section.value), section);

function outcomeOf<Value>(parsed: z.ZodSafeParseResult<Value>, { value, path, code }: Section<Value>): Result<Value> {
  if (parsed.success) return ok(parsed.data);
  const issue = mostHelpful(parsed.error.issues, value, []);
  const field = fieldOf(path, issue?.path ?? []);
  const isMissing = field !== "" && valueAt(value, issue?.path ?? []) === undefined;
  return invalid(code, sentenceOf(field, issue?.message ?? "is not valid", isMissing));
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/**
 * Returns the first issue, with two exceptions. If a field is missing and an unknown field is probably meant for it:
 * the unknown field. If the value must match a schema of several and is an object or a list: the first issue inside it.
 */
function mostHelpful(issues: readonly z.core.$ZodIssue[], root: unknown, base: readonly PropertyKey[]): Issue | null {
  const [first] = issues;
  if (!first) return null;
  const path = [...base, ...first.path];
  const isGiven = valueAt(root, path);
  const meant = `did you mean \`${String(first.path.at(-1))}\`?`;
  const unknown = issues.find(({ code, message }) => code === "unrecognized_keys" && message.includes(meant));
  if (isGiven === undefined && unknown) return { path: [...base, ...unknown.path], message: unknown.message };
  if (first.code === "invalid_union" && typeof isGiven === "object" && isGiven !== null) {
    const isInside = ({ path, code }: z.core.$ZodIssue): boolean =>
      path.length > 0 || code === "unrecognized_keys" || code === "too_big";
    const inside = first.errors.find((option) => option.some(isInside));
    if (inside) return mostHelpful(inside, root, path);
  }
  return { path, message: first.message };
}

/**
 * Returns a sentence about a field, or about the body if the field is empty. `message` is a predicate, such as "must be
 * …".
 */
function sentenceOf(field: string, message: string, isMissing: boolean): string {
  if (field === "") return `The body ${message}`;
  const isNamed = isMissing && !message.startsWith(MISSING);
  return isNamed ? `\`${field}\` ${MISSING}; it ${message}` : `\`${field}\` ${message}`;
}

const MISSING = "is missing";

/**
 * Error messages of a required field. The first text follows "is missing"; `otherwise` is the message for another type.
 */
export const required = (what: string, otherwise: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => (input === undefined ? `${MISSING}${what}` : otherwise),
});

/** Returns the path of a field in the body; empty for the body itself. */
export const fieldOf = (section: string, path: readonly PropertyKey[]): string =>
  [section, ...path.map((part) => excerpt(String(part)))].filter(Boolean).join(".");

/**
 * Schema of a non-empty, trimmed string. The second argument describes it in the error for a missing field, such as ":
 * the name of the bucket".
 */
export const text = (max: number, what = "") =>
  z
    .string(required(what, "must be a string"))
    .trim()
    .min(1, `must not be empty${what}`)
    .max(max, `must have at most ${max} characters`);

// Accepts strings for numbers and booleans, because PHP and forms send these. The schema decides where.

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
function parseLenient<Value>(schema: z.ZodType<Value>, value: unknown): z.ZodSafeParseResult<Value> {
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
