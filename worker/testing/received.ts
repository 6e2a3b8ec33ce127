// Requests that the Worker sends to a URL without a server.
import { vi } from "vitest";

type Received = { readonly headers: Headers; readonly body: string };

/** The requests to a URL, which responds with the status. `work` sends the requests. */
export async function receivedAt(url: string, work: () => Promise<unknown>, status = 204): Promise<Received[]> {
  const received: Received[] = [];
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (request, init) => {
    if (!(request instanceof Request) || request.url !== url) return fetch(request, init);
    received.push({ headers: new Headers([...request.headers]), body: await request.text() });
    return new Response(null, { status });
  });
  await work();
  spy.mockRestore();
  return received;
}
