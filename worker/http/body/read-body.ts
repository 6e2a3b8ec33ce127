// Request bodies: JSON up to a maximum size, whatever the content type.

import type { HonoRequest } from "hono";
import type * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { bodyError } from "#shared/request/body-error.ts";
import { parseStrictly } from "#shared/request/parse-section.ts";
import { nonUnicodeField, UNICODE_RULE } from "#shared/request/unicode.ts";
import { readLimited } from "../../http-client/read-limited.ts";

export const MAX_BODY_BYTES = 2 ** 20;
/** Maximum size before the sender has proved its identity. A one-time link has 60 characters. */
export const MAX_UNKNOWN_BODY_BYTES = 4096;

/** The bytes of the body. Throws AppError(body_too_large). */
export const readBytes = (request: HonoRequest, maxBytes = MAX_BODY_BYTES): Promise<Uint8Array> =>
  readLimited(request.raw.body, maxBytes);

export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes);
  try {
    // A reviver is slow, and most bodies have no such text.
    return /__proto__|\\u00(?:5f|[67])/i.test(text ?? "")
      ? JSON.parse(text ?? "", refuseProto)
      : JSON.parse(text ?? "");
  } catch (error) {
    throw error instanceof AppError ? error : new AppError("json_not_valid", bodyError(text));
  }
}

/** Refuses a name that schemas ignore: a filter by this tag would mean all jobs. */
function refuseProto(name: string, value: unknown): unknown {
  if (name === "__proto__") throw new AppError("json_not_valid", "The body must not have the name `__proto__`");
  return value;
}

/** Decodes UTF-8; null if the bytes are not valid UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/** The body, parsed with a schema. Throws AppError(code | body_too_large | json_not_valid), which names the field. */
export const readBody = async <Value>(
  request: HonoRequest,
  schema: z.ZodType<Value>,
  code: ErrorCode,
  maxBytes = MAX_BODY_BYTES,
): Promise<Value> => parseBody(parseJson(await readBytes(request, maxBytes)), schema, code);

/** The same for requests with an optional body. A missing body means an empty object. */
export async function readOptionalBody<Value>(
  request: HonoRequest,
  schema: z.ZodType<Value>,
  code: ErrorCode,
): Promise<Value> {
  const bytes = await readBytes(request);
  return parseBody(bytes.byteLength === 0 ? {} : parseJson(bytes), schema, code);
}

/** Parses the JSON of a body. Throws AppError(code), which names the field. */
export function parseBody<Value>(body: unknown, schema: z.ZodType<Value>, code: ErrorCode): Value {
  const nonUnicode = nonUnicodeField("", body);
  if (nonUnicode !== null) throw new AppError(code, `\`${nonUnicode}\` ${UNICODE_RULE}`);
  const parsed = parseStrictly({ schema, value: body, path: "", code });
  if (!parsed.ok) throw AppError.from(parsed.error);
  return parsed.value;
}
