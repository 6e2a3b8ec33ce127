// Request bodies: JSON whatever the content type says, of a size that a specification may have.

import type { HonoRequest } from "hono";
import * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { readLimited } from "../read-limited.ts";

const MAX_BODY_BYTES = 2 ** 20;

/** The body as JSON. Throws AppError(body_too_large | json_not_valid). */
export const readJson = async (request: HonoRequest): Promise<unknown> => parseJson(await readBytes(request));

/** The body as it came. Throws AppError(body_too_large). */
export const readBytes = (request: HonoRequest): Promise<Uint8Array> => readLimited(request.raw.body, MAX_BODY_BYTES);

export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new AppError("json_not_valid", "The body is not valid JSON");
  }
}

/** The body parsed by a schema. Throws AppError(code) that names the field. */
export async function readBody<Value>(request: HonoRequest, schema: z.ZodType<Value>, code: ErrorCode): Promise<Value> {
  const parsed = schema.safeParse(await readJson(request));
  if (!parsed.success) throw new AppError(code, z.prettifyError(parsed.error));
  return parsed.data;
}
