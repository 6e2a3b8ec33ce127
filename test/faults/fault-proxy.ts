// A proxy in front of a server on this machine. It forwards requests, holds a request, or loses all connections.
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { origin } from "../../local/home/constants.ts";

export type ProxiedRequest = { readonly method: string; readonly path: string };

/**
 * Nothing moves until the promise resolves: from the start, or after this many bytes of the request's body. Then the
 * request proceeds, even if the client has gone, unless parts of the request are missing.
 */
export type Hold = { readonly until: Promise<unknown>; readonly afterBytes?: number };

type Rule = (request: ProxiedRequest) => Hold | null;

export interface FaultProxy {
  /** Replaces the server's own address. */
  readonly origin: string;
  /** All requests so far, in their order. */
  readonly requests: readonly ProxiedRequest[];
  /** Sets the rule for new requests, which returns a request's hold; null forwards all. */
  use(rule: Rule | null): void;
  /** Closes all connections, WebSockets too, and rejects new connections until `restore`. */
  disconnect(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Replaces the proxy's rule: holds the first matching request, and resolves when this request arrives. */
export function trap(
  proxy: FaultProxy,
  fits: (request: ProxiedRequest) => boolean,
  hold: Hold,
): Promise<ProxiedRequest> {
  const { promise, resolve } = Promise.withResolvers<ProxiedRequest>();
  let isOpen = true;
  proxy.use((request) => {
    if (!isOpen || !fits(request)) return null;
    isOpen = false;
    resolve(request);
    return hold;
  });
  return promise;
}

/**
 * Listens on a free port in front of the server at `target` (`http://127.0.0.1:<port>`). Keeps the `Host` of requests.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  let rule: Rule | null = null;
  let isDisconnected = false;

  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", socket } = request;
    const seen = { method, path };
    requests.push(seen);
    response.on("error", () => {});
    serve(target, request, response, rule?.(seen) ?? null).catch(() => socket.destroy());
  });
  server.on("connection", (socket) => {
    if (isDisconnected) return socket.destroy();
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request, socket, head) => tunnel(target, request, socket, head));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: origin((server.address() as AddressInfo).port),
    requests,
    use(next) {
      rule = next;
    },
    disconnect() {
      isDisconnected = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      isDisconnected = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function serve(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  hold: Hold | null,
): Promise<void> {
  const { until, afterBytes } = hold ?? {};
  if (until === undefined) return copy(await forward(target, request, request), response);
  if (afterBytes !== undefined)
    return copy(await forward(target, request, holding(request, until, afterBytes)), response);
  const body = await buffer(request);
  await until;
  return copy(await forward(target, request, [body]), response);
}

/** Sends the request to the server with this body. */
function forward(
  target: string,
  request: IncomingMessage,
  body: AsyncIterable<Buffer> | Buffer[],
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, url, headers } = request;
  const onward = send(`${target}${url}`, { method, headers, agent: false }, resolve).on("error", reject);
  request.on("close", () => {
    if (!request.complete) onward.destroy();
  });
  pipeline(body, onward).catch(reject);
  return promise;
}

/** Forwards bytes, with a pause after `afterBytes`. */
async function* holding(bytes: AsyncIterable<Buffer>, until: Promise<unknown>, afterBytes: number) {
  let left = afterBytes;
  for await (const part of bytes) {
    yield part.subarray(0, left);
    if (part.length >= left) await until;
    yield part.subarray(Math.min(left, part.length));
    left = part.length >= left ? Number.POSITIVE_INFINITY : left - part.length;
  }
}

async function copy(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
  await pipeline(answer, response);
}

/** Forwards a WebSocket in both directions until either side ends. */
function tunnel(target: string, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { hostname, port } = new URL(target);
  const onward = connect(Number(port), hostname, () => {
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    }
    onward.write(`${lines.join("\r\n")}\r\n\r\n`);
    onward.write(head);
    onward.pipe(socket).pipe(onward);
  });
  const end = (): void => {
    onward.destroy();
    socket.destroy();
  };
  onward.on("error", end).on("close", end);
  socket.on("error", end).on("close", end);
}
