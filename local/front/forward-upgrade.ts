// Forwards WebSocket handshakes; once the Worker accepts one, the two connections are joined.
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { errorResponses, sendErrorOnSocket } from "./error-responses.ts";
import { formatResponseHead, forwardedHeaders, requestHeadError } from "./request-head.ts";

export type Upstream = {
  /** Scheme, host and port of the Worker. */
  readonly origin: string;
  /** The value of FRONT_HEADER that the Worker requires. */
  readonly secret: string;
};

export type Upgrade = {
  /** A request to upgrade its connection, and the bytes that followed its head. */
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The client's address. */
  readonly client: string;
};

/** Forwards a WebSocket handshake; responds 400 to other upgrades. */
export function upgrade({ request, socket, head, client }: Upgrade, { origin, secret }: Upstream): void {
  const { rawHeaders, url: target = "" } = request;
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return sendErrorOnSocket(socket, errorResponses.upgrade);
  const reason = requestHeadError({ target, rawHeaders });
  if (reason !== null) return sendErrorOnSocket(socket, { ...errorResponses.notHttp, message: reason });
  const forwarded = forwardedHeaders({ target, rawHeaders }, client, secret);
  const headers = [...forwarded, "connection", "upgrade", "upgrade", "websocket"];
  const forwardedRequest = httpRequest(origin, { method: request.method, path: target, headers, agent: false });
  socket.on("error", () => forwardedRequest.destroy());
  forwardedRequest.on("error", () => sendErrorOnSocket(socket, errorResponses.unavailable));
  forwardedRequest.on("response", (response) => {
    // The Worker declined: its response is forwarded, and the connection is closed.
    socket.write(formatResponseHead(response, { close: true }));
    response.pipe(socket);
  });
  forwardedRequest.on("upgrade", (response, upstream, first) => {
    socket.write(formatResponseHead(response, { close: false }));
    upstream.unshift(first);
    socket.unshift(head);
    join(socket, upstream);
    join(upstream, socket);
  });
  forwardedRequest.end();
}

/** Pipes `from` into `to`; when either closes, the other is closed. */
function join(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.once("close", () => to.destroy());
}
