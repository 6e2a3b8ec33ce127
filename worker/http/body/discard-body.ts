// Reads unread request bodies. Otherwise the connection would close and the next request on it would fail (RFC 9112
// §9.3).
import type { MiddlewareHandler } from "hono";
import { withDeadline } from "../../deadline.ts";
import { MAX_BODY_BYTES } from "./read-body.ts";

/** Delay of the response: long enough for data in transit, too short for slow clients to hold connections. */
const MAX_WAIT_MS = 300;

/** Reads the rest of the request body, up to the maximum size of a body. */
export const discardBody: MiddlewareHandler = async (context, next) => {
  await next();
  const { body, bodyUsed } = context.req.raw;
  // With `Expect: 100-continue`, the client has sent nothing yet and waits for this response (RFC 9110 §10.1.1).
  if (!body || bodyUsed || context.req.header("expect") !== undefined) return;
  const reader = body.getReader();
  const isRead = await withDeadline("request body", readRest(reader), MAX_WAIT_MS).catch(() => false);
  // The body is too long or too slow: the connection closes, but the client receives the response. Not awaited, because
  // the client may send nothing more. After an error, the client has disconnected.
  if (!isRead) void reader.cancel().catch(() => {});
};

/** Returns false for a body that is too long. */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  for (let sizeBytes = 0; sizeBytes <= MAX_BODY_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return true;
    sizeBytes += value.byteLength;
  }
  return false;
}
