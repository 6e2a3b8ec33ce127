// WebSocket handshakes: passed on as any request, and once the Worker agrees both connections become one.
import { request as ask, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { errorResponses, sendErrorOnSocket } from "./error-responses.ts";
import { formatResponseHead, forwardedHeaders, requestHeadError } from "./request-head.ts";

export type Upstream = {
  /** Scheme, host and port of the Worker. */
  readonly origin: string;
  /** What the Worker asks of each request (FRONT_HEADER). */
  readonly secret: string;
};

/** A request that asks to upgrade its connection, and what came behind its head. */
export type Upgrade = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

/** Passes a WebSocket handshake on; other upgrades are refused. */
export function upgrade({ request, socket, head }: Upgrade, { origin, secret }: Upstream): void {
  const { rawHeaders, url: target = "" } = request;
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return sendErrorOnSocket(socket, errorResponses.upgrade);
  const reason = requestHeadError({ target, rawHeaders });
  if (reason !== null) return sendErrorOnSocket(socket, { ...errorResponses.notHttp, message: reason });
  const forwarded = forwardedHeaders({ target, rawHeaders }, request.socket.remoteAddress ?? "", secret);
  const headers = [...forwarded, "connection", "upgrade", "upgrade", "websocket"];
  const asked = ask(origin, { method: request.method, path: target, headers, agent: false });
  socket.on("error", () => asked.destroy());
  asked.on("error", () => sendErrorOnSocket(socket, errorResponses.unavailable));
  asked.on("response", (answer) => {
    // The Worker declined: its answer is that of a plain request, and ends the connection.
    socket.write(formatResponseHead(answer, { close: true }));
    answer.pipe(socket);
  });
  asked.on("upgrade", (answer, upstream, first) => {
    socket.write(formatResponseHead(answer, { close: false }));
    upstream.unshift(first);
    socket.unshift(head);
    join(socket, upstream);
    join(upstream, socket);
  });
  asked.end();
}

/** What comes out of `from` goes into `to`; the end of either is the end of both. */
function join(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.once("close", () => to.destroy());
}
