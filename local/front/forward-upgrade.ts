// Forwards WebSocket handshakes. When the Worker accepts a handshake, the two connections are joined.
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "#shared/log.ts";
import type { ClientShares } from "./client-shares.ts";
import { causeOf, errorResponses, responseToFailure, sendErrorOnSocket } from "./error-responses.ts";
import type { Upstream } from "./forward.ts";
import { formatResponseHead, forwardedHeaders, requestHeadError } from "./request-head.ts";

export type Upgrade = {
  /** A request to upgrade its connection, and the bytes that followed its head. */
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The client's address, and the owner of the share for this handshake. */
  readonly client: string;
  readonly network: string;
};

type Deps = { readonly upstream: Upstream; readonly requests: ClientShares; readonly log: Logger };

/** Forwards a WebSocket handshake; responds 400 to other upgrades. */
export async function upgrade(options: Upgrade, { upstream, requests, log }: Deps): Promise<void> {
  const { request, socket, client, network } = options;
  const { rawHeaders, url: target = "" } = request;
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return sendErrorOnSocket(socket, errorResponses.upgrade);
  const reason = requestHeadError({ target, rawHeaders });
  if (reason !== null) return sendErrorOnSocket(socket, { ...errorResponses.notHttp, message: reason });
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  socket.on("error", () => socket.destroy());
  if (!(await requests.enter(network, gone.signal))) return sendErrorOnSocket(socket, errorResponses.manyRequests);
  try {
    const headers = forwardedHeaders({ target, rawHeaders }, client, upstream.secret);
    await handshake(options, upstream.origin, headers, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return;
    log.warn("handshake with the Worker failed", { cause: causeOf(error) });
    sendErrorOnSocket(socket, responseToFailure(error));
  } finally {
    // The Worker accepts sockets of nodes only, and their hub limits them.
    requests.leave(network);
  }
}

/** Sends a handshake. Resolves after the connections are joined, or after the Worker has declined. */
function handshake(
  { request, socket, head }: Upgrade,
  origin: string,
  headers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const forwarded = httpRequest(origin, {
    method: request.method,
    path: request.url,
    headers: [...headers, "connection", "upgrade", "upgrade", "websocket"],
    agent: false,
    signal,
  });
  forwarded.on("error", reject);
  forwarded.on("response", (response) => {
    // The Worker declined: forwards its response and closes the connection.
    socket.write(formatResponseHead(response, { close: true }));
    response.pipe(socket);
    response.once("close", resolve);
  });
  forwarded.on("upgrade", (response, upstream, first) => {
    socket.write(formatResponseHead(response, { close: false }));
    upstream.unshift(first);
    socket.unshift(head);
    join(socket, upstream);
    join(upstream, socket);
    resolve();
  });
  forwarded.end();
  return promise;
}

/** Pipes `from` into `to`. When either closes, the other is closed. */
function join(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.once("close", () => to.destroy());
}
