// The server on the stack's port, through which all requests reach the local Worker. Miniflare listens behind it on
// ports that change with each start. The Worker rejects requests without the secret of this process.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "#shared/log.ts";
import { clientNetwork } from "#shared/network/client-network.ts";
import { clientAddress, TrustedProxies } from "./client-address.ts";
import { ClientShares, type ShareLimits } from "./client-shares.ts";
import { ConnectionTurns } from "./connection-turns.ts";
import { errorResponses, sendError, sendErrorOnSocket } from "./error-responses.ts";
import { Forwarder, type Upstream } from "./forward.ts";
import { upgrade } from "./forward-upgrade.ts";
import { hasUserAgent, respondBlocked, respondBlockedOnSocket } from "./integrity-check.ts";
import type { BodyRate } from "./receive-body.ts";

const HEAD_LIMIT_MS = 15_000;
/**
 * Idle time after which a connection is closed, as in nginx (`keepalive_timeout`). Balancers and clients close it earlier,
 * mostly after 60 s: a request that meets the close is lost, and a POST is not repeated.
 */
const KEEP_ALIVE_MS = 75_000;

export type FrontOptions = {
  readonly port: number;
  /** The address to listen on; the loopback interface by default. */
  readonly host?: string;
  /** Addresses and networks of proxies before this server; none by default. */
  readonly trustedProxies?: readonly string[];
  readonly log: Logger;
  /** The most concurrent requests: 512, and 64 for each client. */
  readonly requests?: ShareLimits;
  /** The most concurrent event streams: 2048, and 256 for each client. */
  readonly streams?: ShareLimits;
  /** The longest time for which a client may read nothing while data waits, in ms: 60 s. */
  readonly stallMs?: number;
  /** The lowest rate of bodies of requests: 1 kB a second after 10 s. */
  readonly bodyRate?: BodyRate;
  /** True if requests must pass Cloudflare's Browser Integrity Check. */
  readonly isEdge?: boolean;
  /** True from the start of a stop: balancers then get 503 from /v2/health/ready, and send no more requests. */
  readonly isStopping?: () => boolean;
};

const REQUESTS = { total: 512, perClient: 64 };
const STREAMS = { total: 2048, perClient: 256 };
const STALL_MS = 60_000;
const BODY_RATE = { graceMs: 10_000, bytesPerS: 1000 };

/** Rejects if the port is taken. */
export async function startFront(
  { port, host = "127.0.0.1", trustedProxies = [], log, isEdge = false, isStopping, ...limits }: FrontOptions,
  upstream: Upstream,
): Promise<Server> {
  const { requests = REQUESTS, streams = STREAMS, stallMs = STALL_MS, bodyRate = BODY_RATE } = limits;
  const trusted = new TrustedProxies(trustedProxies);
  const shares = { requests: new ClientShares(requests), streams: new ClientShares(streams) };
  const forwarder = new Forwarder(upstream, shares, bodyRate, log);
  const turns = new ConnectionTurns();
  const server = createServer({ headersTimeout: HEAD_LIMIT_MS, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS });
  server.on("request", (request, response) => {
    if (isEdge && !hasUserAgent(request)) return respondBlocked(response);
    if (isStopping?.() && request.url === "/v2/health/ready") return sendError(response, errorResponses.unavailable);
    return turns.take(request.socket, response, () => forwarder.forward(request, response, clientOf(request, trusted)));
  });
  server.on("upgrade", (request, socket, head) => {
    // Responses to earlier requests would be written into the WebSocket.
    if (turns.isBusy(socket)) return socket.destroy();
    if (isEdge && !hasUserAgent(request)) return respondBlockedOnSocket(socket);
    request.socket.setTimeout(stallMs, () => endIfStalled(socket));
    upgrade(
      { request, socket, head, ...clientOf(request, trusted) },
      { upstream, requests: shares.requests, log },
    ).catch(() => socket.destroy());
  });
  server.on("connect", (_, socket) => sendErrorOnSocket(socket, errorResponses.connect));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else
      sendErrorOnSocket(
        socket,
        error.code === "HPE_HEADER_OVERFLOW" ? errorResponses.largeHead : errorResponses.notHttp,
      );
  });
  // Without a listener, Node closes each connection that is silent for this time, even while the Worker works.
  server.setTimeout(stallMs, (socket) => (turns.isBusy(socket) ? endIfStalled(socket) : socket.destroy()));
  server.once("close", () => void forwarder.close());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, resolve);
  });
  return server;
}

/** Ends a connection that has timed out while unread data waits for the client. */
function endIfStalled(socket: Duplex): void {
  if (socket.writableLength > 0) socket.destroy();
}

function clientOf(
  { socket, headers }: IncomingMessage,
  trusted: TrustedProxies,
): { readonly client: string; readonly network: string } {
  const client = clientAddress(
    socket.remoteAddress ?? "",
    [headers["x-forwarded-for"] ?? []].flat().join(","),
    trusted,
  );
  return { client, network: clientNetwork(client) ?? client };
}
