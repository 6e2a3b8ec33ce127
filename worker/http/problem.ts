// Answers in JSON, and the one place where an error becomes an answer.

import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, type ErrorCode, errorTraits } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { log } from "../env.ts";

/** A JSON answer with the content type that the contract names. */
export function answer(context: Context, body: unknown, status: ContentfulStatusCode = 200): Response {
  return context.body(JSON.stringify(body), status, { "content-type": "application/json; charset=utf-8" });
}

/** An error as the contract shapes it. Codes that have no HTTP status are ours to explain: 500. */
export function problem(context: Context, code: ErrorCode, message: string): Response {
  const status = errorTraits(code).http ?? 500;
  if (status === 401) context.header("www-authenticate", 'Basic realm="copra", charset="UTF-8"');
  if (status === 503) context.header("retry-after", "5");
  return answer(context, { message, error_code: code, status: "error" }, status as ContentfulStatusCode);
}

/** The answer to a method that a known path does not have. */
export const notAllowed = (context: Context): Response =>
  problem(context, "method_not_allowed", `${context.req.method} is not allowed here`);

/** Turns whatever was thrown into an answer; what is inside us stays inside. */
export function onError(error: Error, context: Context): Response {
  if (error instanceof AppError) return problem(context, error.code, error.message);
  const passing = "retryable" in error || "overloaded" in error;
  log.error("Request failed", { path: context.req.path, error: messageOf(error), stack: error.stack ?? null });
  return passing
    ? problem(context, "service_unavailable", "The service cannot answer right now; please try again in a moment")
    : problem(context, "internal_error", "Something went wrong inside the service");
}
