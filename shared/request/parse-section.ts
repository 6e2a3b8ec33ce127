// Parsing one section of a request so that a refusal names the field and says what is allowed.
import * as z from "zod";
import type { ErrorCode } from "../errors.ts";
import { shown } from "../shown.ts";

export type Refusal = { code: ErrorCode; message: string };
export type Parsed<Value> = { ok: true; value: Value } | { ok: false; refusal: Refusal };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const refuse = (code: ErrorCode, message: string): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { code, message },
});

/**
 * Parses one section; the refusal names the field by its path in the body and says what is allowed. The whole body is
 * the section without a path.
 */
export function parseSection<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  path: string,
  code: ErrorCode,
): Parsed<Value> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  const field = fieldOf(path, issue?.path ?? []);
  return refuse(code, `${field ? `\`${field}\`:` : "The body"} ${issue?.message ?? "is not valid"}`);
}

/** A field by its path in the body; empty for the body itself. */
export const fieldOf = (section: string, path: readonly PropertyKey[]): string =>
  [section, ...path.map((part) => shown(String(part)))].filter(Boolean).join(".");

/** A string that says something, trimmed. */
export const text = (max: number) =>
  z.string("must be a string").trim().min(1, "must not be empty").max(max, `at most ${max} characters`);
