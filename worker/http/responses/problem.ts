// Answers in JSON, and the one place where an error becomes an answer.

import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, type ErrorCode, errorTraits } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { log } from "../../env.ts";
import type { ErrorBody } from "../response-schemas.ts";

/** A JSON answer with the content type that the contract names. */
export function answer(context: Context, body: unknown, status: ContentfulStatusCode = 200): Response {
  return context.body(JSON.stringify(body), status, { "content-type": "application/json; charset=utf-8" });
}

/** When to come back: once the rate's period (wrangler.toml) is over, or soon. */
const RETRY_AFTER_SECONDS: ReadonlyMap<number, string> = new Map([
  [429, "10"],
  [503, "5"],
]);

/** An error as the contract shapes it, by default with the `Retry-After` of its status. Codes without a status: 500. */
export function problem(
  context: Context,
  code: ErrorCode,
  message: string,
  retryAfterSeconds: number | null = null,
): Response {
  const status = errorTraits(code).http ?? 500;
  const retryAfter = retryAfterSeconds === null ? RETRY_AFTER_SECONDS.get(status) : String(retryAfterSeconds);
  if (retryAfter !== undefined) context.header("retry-after", retryAfter);
  const body: ErrorBody = { message, error_code: code, status: "error" };
  return answer(context, body, status as ContentfulStatusCode);
}

/** Whether an error of the platform passes: of an object that moved or is overloaded, in its own words. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error && (error instanceof AppError || "retryable" in error || "overloaded" in error);

/** Turns whatever was thrown into an answer; what is inside us stays inside. */
export function onError(error: Error, context: Context): Response {
  if (error instanceof AppError) return problem(context, error.code, error.message, error.retryAfterSeconds);
  const cause = error.cause === undefined ? null : messageOf(error.cause);
  log.error("Request failed", { path: context.req.path, error: messageOf(error), cause, stack: error.stack ?? null });
  return isPassing(error)
    ? problem(context, "service_unavailable", "The service cannot answer right now; please try again in a moment")
    : problem(context, "internal_error", "Something went wrong inside the service");
}
