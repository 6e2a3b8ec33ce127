// Parsing one section of a request so that a refusal names the field and says what is allowed.
import * as z from "zod";
import type { ErrorCode } from "../errors.ts";
import { shown } from "../shown.ts";
import { parseLenient } from "./parse-lenient.ts";
import { valueAt } from "./value-at.ts";

export type Refusal = { code: ErrorCode; message: string };
export type Parsed<Value> = { ok: true; value: Value } | { ok: false; refusal: Refusal };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const refuse = (code: ErrorCode, message: string): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { code, message },
});

type Section<Value> = {
  readonly schema: z.ZodType<Value>;
  readonly value: unknown;
  /** The section by its path in the body; empty for the body itself. */
  readonly path: string;
  readonly code: ErrorCode;
};

/**
 * Parses one section of a client's request; the refusal names the field by its path in the body and says what is
 * allowed. Numbers and booleans may be strings (parse-lenient.ts).
 */
export function parseSection<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  path: string,
  code: ErrorCode,
): Parsed<Value> {
  return outcomeOf(parseLenient(schema, value), { schema, value, path, code });
}

/** The same for what machines send: a number is a number. */
export const parseStrictly = <Value>(section: Section<Value>): Parsed<Value> =>
  outcomeOf(section.schema.safeParse(section.value), section);

function outcomeOf<Value>(parsed: z.ZodSafeParseResult<Value>, { value, path, code }: Section<Value>): Parsed<Value> {
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = mostTelling(parsed.error.issues, value, []);
  const field = fieldOf(path, issue?.path ?? []);
  const isMissing = field !== "" && valueAt(value, issue?.path ?? []) === undefined;
  return refuse(code, sentenceOf(field, issue?.message ?? "is not valid", isMissing));
}

type Told = { readonly path: readonly PropertyKey[]; readonly message: string };

/**
 * The first issue; but beside a field that is missing an unknown one that may be meant for it, and of alternatives what
 * is wrong inside an object, where it is an object that is not right.
 */
function mostTelling(issues: readonly z.core.$ZodIssue[], root: unknown, base: readonly PropertyKey[]): Told | null {
  const [first] = issues;
  if (!first) return null;
  const path = [...base, ...first.path];
  const isGiven = valueAt(root, path);
  const meant = `did you mean \`${String(first.path.at(-1))}\`?`;
  const unknown = issues.find(({ code, message }) => code === "unrecognized_keys" && message.includes(meant));
  if (isGiven === undefined && unknown) return { path: [...base, ...unknown.path], message: unknown.message };
  if (first.code === "invalid_union" && isObject(isGiven)) {
    const inside = first.errors.find((option) =>
      option.some((issue) => issue.path.length > 0 || issue.code === "unrecognized_keys"),
    );
    if (inside) return mostTelling(inside, root, path);
  }
  return { path, message: first.message };
}

/** A sentence on a field, or on the body when there is none. */
function sentenceOf(field: string, message: string, isMissing: boolean): string {
  if (field === "") return `The body ${message}`;
  if (message.startsWith(MISSING)) return `\`${field}\` ${message}`;
  return isMissing ? `\`${field}\` ${MISSING}; it ${message}` : `\`${field}\`: ${message}`;
}

const MISSING = "is missing";

/** The messages of a field that must be there: `what` is said when it is missing, `otherwise` when it is something else. */
export const needed = (what: string, otherwise: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => (input === undefined ? `${MISSING}${what}` : otherwise),
});

/** A field by its path in the body; empty for the body itself. */
export const fieldOf = (section: string, path: readonly PropertyKey[]): string =>
  [section, ...path.map((part) => shown(String(part)))].filter(Boolean).join(".");

/** A string that says something, trimmed; `what` is said of it when it is missing, such as ": the bucket's name". */
export const text = (max: number, what = "") =>
  z
    .string(needed(what, "must be a string"))
    .trim()
    .min(1, `must not be empty${what}`)
    .max(max, `at most ${max} characters`);
