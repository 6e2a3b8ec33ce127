// A body that nobody reads costs the client its connection: the next request on it is lost (RFC 9112 §9.3).
import type { MiddlewareHandler } from "hono";
import { MAX_BODY_BYTES } from "./read-body.ts";

/** The answer waits for it: long enough for what is on its way, too short to hold connections by sending slowly. */
const PATIENCE_MS = 300;

/** Reads to its end what was left unread of the request's body, up to what a body may have. */
export const discardBody: MiddlewareHandler = async (context, next) => {
  await next();
  const { body, bodyUsed } = context.req.raw;
  // Who expects to be told to go on has sent nothing yet, and waits for this answer (RFC 9110 §10.1.1).
  if (!body || bodyUsed || context.req.header("expect") !== undefined) return;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), PATIENCE_MS);
  const reader = body.getReader();
  try {
    for (let sizeBytes = 0; sizeBytes <= MAX_BODY_BYTES; ) {
      const read = await Promise.race([reader.read(), late]);
      if (read === null) break;
      if (read.done) return;
      sizeBytes += read.value.byteLength;
    }
    // It cannot be read to its end: the connection is lost, and the answer is not. Not awaited, the sender may be silent.
    void reader.cancel().catch(() => {});
  } catch {
    // The sender is gone.
  } finally {
    clearTimeout(timer);
  }
};
