// Headers that every answer has, whatever it is.
import type { MiddlewareHandler } from "hono";

/**
 * No answer is taken for another type than it says. What is of one client and one moment (all JSON but the document of the
 * API, which names its own time) is kept by no cache: it may hold keys.
 */
export const answerHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers, status } = context.res;
  // A WebSocket is no document.
  if (status === 101) return;
  context.header("x-content-type-options", "nosniff");
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  if (isJson && !headers.has("cache-control")) context.header("cache-control", "no-store");
};
