// Request bodies: JSON whatever the content type says, of a size that a specification may have.

import type { HonoRequest } from "hono";
import type * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { bodyFault } from "#shared/request/body-error.ts";
import { parseStrictly } from "#shared/request/parse-section.ts";
import { illFormedField, UNICODE_RULE } from "#shared/request/well-formed.ts";
import { readLimited } from "../../read-limited.ts";

export const MAX_BODY_BYTES = 2 ** 20;

/** The body as JSON. Throws AppError(body_too_large | json_not_valid). */
export const readJson = async (request: HonoRequest): Promise<unknown> => parseJson(await readBytes(request));

/** The body as it came. Throws AppError(body_too_large). */
export const readBytes = (request: HonoRequest): Promise<Uint8Array> => readLimited(request.raw.body, MAX_BODY_BYTES);

export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes);
  try {
    return JSON.parse(text ?? "");
  } catch {
    throw new AppError("json_not_valid", bodyFault(text));
  }
}

/** Text of UTF-8; null for what is none. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/** The body, a JSON object, parsed by a schema. Throws AppError(code) that names the field. */
export async function readBody<Value>(request: HonoRequest, schema: z.ZodType<Value>, code: ErrorCode): Promise<Value> {
  const body = await readJson(request);
  const illFormed = illFormedField("", body);
  if (illFormed !== null) throw new AppError(code, `\`${illFormed}\`: ${UNICODE_RULE}`);
  const parsed = parseStrictly({ schema, value: body, path: "", code });
  if (!parsed.ok) throw new AppError(parsed.refusal.code, parsed.refusal.message);
  return parsed.value;
}
