// JSON responses. Only this file converts errors to responses.

import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ErrorBody } from "#shared/api/job-responses.ts";
import { AppError, type ErrorCode, errorTraits } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keyedDigest } from "../../crypto/keyed-digest.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import type { ClientEnv } from "../auth/auth.ts";

/** A JSON response with the content type of the contract. */
export function jsonResponse(context: Context, body: unknown, status: ContentfulStatusCode = 200): Response {
  return jsonText(context, JSON.stringify(body), status);
}

/** A response whose body is already JSON. */
export function jsonText(context: Context, body: string, status: ContentfulStatusCode = 200): Response {
  return context.body(body, status, { "content-type": "application/json; charset=utf-8" });
}

/**
 * A JSON response that clients request again and again. Its ETag is weak, because proxies may compress it. A private
 * cache may keep it, and must ask each time whether it has changed.
 */
export function polledJson(context: Context<ClientEnv>, body: string): Response {
  const [key] = settingsOf(context.env).sealingKeys;
  const etag = `W/"${keyedDigest("copra etag 1", body, key).slice(0, 32)}"`;
  context.header("etag", etag);
  context.header("cache-control", "private, no-cache");
  const known = context.req.header("if-none-match")?.split(",") ?? [];
  return known.some((tag) => tag.trim() === etag) ? context.body(null, 304) : jsonText(context, body);
}

/** Seconds until a retry: the period of the rate limit (wrangler.toml), or a short time. */
const RETRY_AFTER_SECONDS: ReadonlyMap<number, string> = new Map([
  [429, "10"],
  [503, "5"],
]);

/** An error response, by default with the `Retry-After` of its status. Codes without a status become 500. */
export function errorResponse(
  context: Context,
  code: ErrorCode,
  message: string,
  retryAfterSeconds: number | null = null,
): Response {
  const status = errorTraits(code).http ?? 500;
  const retryAfter = retryAfterSeconds === null ? RETRY_AFTER_SECONDS.get(status) : String(retryAfterSeconds);
  if (retryAfter !== undefined) context.header("retry-after", retryAfter);
  const body: ErrorBody = { message, error_code: code, status: "error" };
  return jsonResponse(context, body, status as ContentfulStatusCode);
}

/** True if an error of the platform is temporary, such as an object that moved or is overloaded. */
export const isTransientError = (error: unknown): boolean =>
  error instanceof Error && (error instanceof AppError || "retryable" in error || "overloaded" in error);

/** The path without the token of `/v2/ingest/:template/:token` and `/v2/links/:token`. */
const withoutToken = (path: string): string => path.replace(/^(\/v2\/(?:ingest\/[^/]*|links)\/).*/, "$1…");

/** Converts any error to a response, without internal details. */
export function onError(error: Error, context: Context): Response {
  if (error instanceof AppError) return errorResponse(context, error.code, error.message, error.retryAfterSeconds);
  const cause = error.cause === undefined ? null : messageOf(error.cause);
  log.error("request failed", {
    path: withoutToken(context.req.path),
    error: messageOf(error),
    cause,
    stack: error.stack ?? null,
  });
  return isTransientError(error)
    ? errorResponse(context, "service_unavailable", "The service is temporarily unavailable; try again later")
    : errorResponse(context, "internal_error", "An internal error occurred");
}
