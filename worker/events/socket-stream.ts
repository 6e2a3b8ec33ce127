// A client's stream of server-sent events (HTML Living Standard), which the Worker holds. The stream copies the texts
// of an object's socket (event-sockets.ts), and shows that the connection lives.
import { AppError, type Failure } from "#shared/errors.ts";
import { withDeadline } from "../deadline.ts";
import { READ } from "./event-sockets.ts";

/** Interval between pings: proxies close idle streams, and only a write shows that a client is gone. */
const PING_MS = 15_000;
/**
 * Lifetime of a stream. Its client then connects again with its key, so that a revoked key cannot follow any longer.
 */
const LIFE_MS = 10 * 60_000;
/** Sets the time that clients wait before they connect again. The first message completes it. */
export const OPENING = "retry: 2000\n";
const PING = ": ping\n\n";
const CLOSING = ": connect again\n\n";

const ENCODER = new TextEncoder();

/** The header with the id of the last event that a client has. */
const LAST_EVENT_ID = "last-event-id";

/** Id of the last event that the request's client has; null if the request names none. */
export const lastEventIdOf = (request: Request): string | null => request.headers.get(LAST_EVENT_ID);

/** Response of an object that refuses a follower. */
export const refuse = (failure: Failure): Response => Response.json(failure, { status: 409 });

/** Follows an object's events for a client's request. Throws AppError when the object refuses. */
export async function follow(object: Pick<Fetcher, "fetch">, request: Request): Promise<ReadableStream<Uint8Array>> {
  const lastEventId = lastEventIdOf(request);
  const headers = { upgrade: "websocket", ...(lastEventId === null ? {} : { [LAST_EVENT_ID]: lastEventId }) };
  const response = await withDeadline("events", object.fetch(new Request("https://object/events", { headers })));
  if (response.webSocket) return streamOf(response.webSocket, request.signal);
  throw AppError.from(await response.json<Failure>());
}

/** Streams the texts of a socket until either end closes. `gone` is aborted when the client is gone. */
export function streamOf(socket: WebSocket, gone: AbortSignal): ReadableStream<Uint8Array> {
  let stop = (): boolean => false;
  let isUnread = false;
  let isAwaited = false;
  const source: UnderlyingSource<Uint8Array> = {
    start(controller) {
      const write = (text: string): void => {
        isUnread = true;
        controller.enqueue(ENCODER.encode(text));
      };
      const end = (): void => {
        if (stop()) controller.close();
      };
      // A client that has not read the last text is gone, or gets the missed events when it connects again.
      const ping = setInterval(() => (isUnread ? end() : write(PING)), PING_MS);
      const life = setTimeout(() => {
        write(CLOSING);
        end();
      }, LIFE_MS);
      stop = () => {
        stop = () => false;
        clearInterval(ping);
        clearTimeout(life);
        socket.close();
        return true;
      };
      socket.addEventListener("message", ({ data }) => {
        isAwaited = true;
        write(String(data));
      });
      for (const event of ["close", "error"] as const) socket.addEventListener(event, end);
      gone.addEventListener("abort", end);
      write(OPENING);
      socket.accept();
    },
    // Everything that was written has been read.
    pull() {
      isUnread = false;
      if (isAwaited) socket.send(READ);
      isAwaited = false;
    },
    cancel: () => void stop(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
