// Receives the body of a request, so that clients who send slowly take no places from others.
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";

/** The lowest mean rate of a body, after a grace period; time in which the service does not read does not count. */
export type BodyRate = { readonly graceMs: number; readonly bytesPerS: number };

/** Smaller bodies are complete before they take a place. */
const BUFFER_BYTES = 64 * 1024;

/**
 * Resolves to the whole body, or to a stream of a larger body when the buffer is full. Calls `onSlow` when the client
 * sends too slowly. Uploads (PUT, PATCH) may be slow once the buffer is full: the service refuses them early without a
 * valid key or token.
 */
export async function receiveBody(
  request: IncomingMessage,
  { graceMs, bytesPerS }: BodyRate,
  onSlow: () => void,
): Promise<Readable | Buffer> {
  // A PassThrough has two buffers of this size.
  const body = new PassThrough({ highWaterMark: BUFFER_BYTES / 2 });
  const tickMs = graceMs / 10;
  let [bytes, waitedMs] = [0, 0];
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    waitedMs += tickMs;
    if (bytes >= ((waitedMs - graceMs) / 1000) * bytesPerS) return;
    clearInterval(timer);
    onSlow();
  }, tickMs);
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.pipe(body);
  await new Promise<void>((resolve) => {
    // The pipe pauses the request when the buffer is full.
    for (const event of ["end", "pause", "close"]) request.once(event, () => resolve());
  });
  if (request.complete || ["PUT", "PATCH"].includes(request.method ?? "")) clearInterval(timer);
  else request.once("close", () => clearInterval(timer));
  return request.complete ? (body.read() ?? Buffer.alloc(0)) : body;
}
