// A body that nobody reads costs the client its connection: the next request on it is lost (RFC 9112 §9.3).
import type { MiddlewareHandler } from "hono";
import { MAX_BODY_BYTES } from "./read-body.ts";

/** Longer than this nobody waits for an answer that is known already. */
const PATIENCE_MS = 5000;

/** Reads to its end what was left unread of the request's body, up to what a body may have. */
export const discardBody: MiddlewareHandler = async (context, next) => {
  await next();
  const { body, bodyUsed } = context.req.raw;
  // Who expects to be told to go on has sent nothing yet, and waits for this answer (RFC 9110 §10.1.1).
  if (!body || bodyUsed || context.req.header("expect") !== undefined) return;
  let sizeBytes = 0;
  const nowhere = new WritableStream<Uint8Array>({
    write(chunk) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > MAX_BODY_BYTES) throw new Error("The body is too large to be read for nothing");
    },
  });
  // Where it cannot be read to its end the connection is lost, and the answer is not.
  await body.pipeTo(nowhere, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => {});
};
