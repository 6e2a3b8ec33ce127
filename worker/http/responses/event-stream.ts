/** An answer of server-sent events; no cache may keep it, for it is of the moment. */
export const eventStream = (events: string | ReadableStream<Uint8Array>): Response =>
  new Response(events, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
