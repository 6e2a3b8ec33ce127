/** A response with server-sent events. Caches must not store it. */
export const eventStream = (events: string | ReadableStream<Uint8Array>): Response =>
  new Response(events, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
