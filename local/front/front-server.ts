// The server on the stack's port, through which all requests reach the local Worker. Miniflare listens behind it on
// ports that change with each start, and the Worker rejects requests without the secret of this process.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { errors, Pool } from "undici";
import { clientAddress, TrustedProxies } from "./client-address.ts";
import { type ErrorResponse, errorResponses, sendErrorOnSocket } from "./error-responses.ts";
import { type Upstream, upgrade } from "./forward-upgrade.ts";
import { forwardedHeaders, requestHeadError, responseHeaders } from "./request-head.ts";

const HEAD_LIMIT_MS = 15_000;
/** workerd closes connections that are idle for 5 s (kj, HttpServerSettings.pipelineTimeout). */
const IDLE_MS = 3000;
const CONNECTIONS = 512;
/** How long the front reads the rest of a body after an early response, so that its sender can read the response. */
const LINGER_MS = 1000;

export type FrontOptions = {
  readonly port: number;
  /** The address to listen on; the loopback interface by default. */
  readonly host?: string;
  /** Addresses and networks of proxies before this server; none by default. */
  readonly trustedProxies?: readonly string[];
};

/** Rejects when the port is taken. */
export async function startFront(
  { port, host = "127.0.0.1", trustedProxies = [] }: FrontOptions,
  upstream: Upstream,
): Promise<Server> {
  const trusted = new TrustedProxies(trustedProxies);
  const pool = new Pool(upstream.origin, {
    connections: CONNECTIONS,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // Event streams and large uploads take as long as they take.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const server = createServer({ headersTimeout: HEAD_LIMIT_MS, requestTimeout: 0 });
  server.on("request", (request, response) => {
    const client = clientOf(request, trusted);
    void forward(request, response, { pool, client, secret: upstream.secret });
  });
  server.on("upgrade", (request, socket, head) =>
    upgrade({ request, socket, head, client: clientOf(request, trusted) }, upstream),
  );
  server.on("connect", (_, socket) => sendErrorOnSocket(socket, errorResponses.connect));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else
      sendErrorOnSocket(
        socket,
        error.code === "HPE_HEADER_OVERFLOW" ? errorResponses.largeHead : errorResponses.notHttp,
      );
  });
  server.once("close", () => void pool.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, resolve);
  });
  return server;
}

const clientOf = ({ socket, headers }: IncomingMessage, trusted: TrustedProxies): string =>
  clientAddress(socket.remoteAddress ?? "", [headers["x-forwarded-for"] ?? []].flat().join(","), trusted);

type Forwarding = { readonly pool: Pool; readonly client: string; readonly secret: string };

/** Forwards one request and its response, both as streams. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { pool, client, secret }: Forwarding,
): Promise<void> {
  const { rawHeaders, url: target = "" } = request;
  const reason = requestHeadError({ target, rawHeaders });
  if (reason !== null) return sendError(response, { ...errorResponses.notHttp, message: reason });
  const clientGone = new AbortController();
  response.once("close", () => clientGone.abort());
  try {
    const upstreamResponse = await pool.request({
      method: request.method ?? "GET",
      path: target,
      headers: forwardedHeaders({ target, rawHeaders }, client, secret),
      body: hasBody(request) ? request : null,
      signal: clientGone.signal,
    });
    // The next request on this connection cannot be found before the end of this body.
    if (!request.complete) response.shouldKeepAlive = false;
    response.writeHead(upstreamResponse.statusCode, responseHeaders(upstreamResponse.headers));
    response.flushHeaders();
    await pipeline(upstreamResponse.body, response, { end: false });
    if (!request.complete) await restOf(request);
    response.end();
  } catch (error) {
    if (response.headersSent || clientGone.signal.aborted) response.destroy();
    else
      sendError(
        response,
        error instanceof errors.InvalidArgumentError ? errorResponses.notHttp : errorResponses.unavailable,
      );
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

async function restOf(request: IncomingMessage): Promise<void> {
  const done = new AbortController();
  request.resume().once("close", () => done.abort());
  await sleep(LINGER_MS, undefined, { signal: done.signal, ref: false }).catch(() => {});
}

function sendError(response: ServerResponse, { status, code, message, headers }: ErrorResponse): void {
  response.shouldKeepAlive = false;
  response.writeHead(status, { ...headers, "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify({ message, error_code: code, status: "error" }));
}
