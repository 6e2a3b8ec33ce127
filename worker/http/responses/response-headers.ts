// Headers of all responses.
import type { MiddlewareHandler } from "hono";

/**
 * Browsers must not guess content types. Caches must not store JSON responses, which belong to a single client and may
 * contain keys. Responses that set `cache-control` themselves are exceptions, such as the OpenAPI document.
 */
export const responseHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers, status } = context.res;
  // Responses that open a WebSocket have no content.
  if (status === 101) return;
  context.header("x-content-type-options", "nosniff");
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  if (isJson && !headers.has("cache-control")) context.header("cache-control", "no-store");
};
