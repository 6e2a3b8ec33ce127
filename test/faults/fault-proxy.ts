// A proxy in front of a server on this machine. It forwards requests or injects faults of networks and servers.
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { origin } from "../../local/home/constants.ts";

export type ProxiedRequest = { readonly method: string; readonly path: string; readonly range: string | undefined };

/** The fault of a request. */
export type Fault =
  /** The server never sees the request. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  /** The connection breaks after this many bytes of the request's body. The server sees a broken request, or none. */
  | { readonly kind: "reset"; readonly afterBytes?: number }
  /** The server executes the request, and the client gets no answer. */
  | { readonly kind: "lose answer" }
  /** Nothing moves for this time; then the request proceeds. */
  | { readonly kind: "stall"; readonly ms: number }
  /**
   * Nothing moves until the promise resolves: from the start, or after this many bytes of the request's body. Then the
   * request proceeds, even if the client has gone, unless parts of the request are missing.
   */
  | { readonly kind: "hold"; readonly until: Promise<unknown>; readonly afterBytes?: number }
  /** Nothing more arrives after this many bytes of the answer's body, until the client gives up. */
  | { readonly kind: "hang answer"; readonly afterBytes: number }
  /** The connection breaks after this many bytes of the answer's body. */
  | { readonly kind: "truncate answer"; readonly afterBytes: number }
  /** The answer's body arrives in small pieces. */
  | { readonly kind: "drip"; readonly bytesPerSecond: number }
  /** The server gets the request twice, and the client its second answer. */
  | { readonly kind: "twice" };

/** Returns the fault for a request; null forwards the request. */
export type FaultRule = (request: ProxiedRequest) => Fault | null;

export interface FaultProxy {
  /** Replaces the server's own address. */
  readonly origin: string;
  /** All requests so far, in their order. */
  readonly requests: readonly ProxiedRequest[];
  /** Sets the rule for new requests; null forwards all. */
  use(rule: FaultRule | null): void;
  /** Closes all connections, WebSockets too, and rejects new connections until `restore`. */
  disconnect(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Replaces the proxy's rule: applies `fault` to the first matching request, and resolves when this request arrives. */
export function trap(
  proxy: FaultProxy,
  fits: (request: ProxiedRequest) => boolean,
  fault: Fault | null = null,
): Promise<ProxiedRequest> {
  const { promise, resolve } = Promise.withResolvers<ProxiedRequest>();
  let isOpen = true;
  proxy.use((request) => {
    if (!isOpen || !fits(request)) return null;
    isOpen = false;
    resolve(request);
    return fault;
  });
  return promise;
}

/**
 * Listens on a free port in front of the server at `target` (`http://127.0.0.1:<port>`). Keeps the `Host` of requests.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  let rule: FaultRule | null = null;
  let isDisconnected = false;

  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers, socket } = request;
    const seen = { method, path, range: headers.range };
    requests.push(seen);
    const fault = rule?.(seen) ?? null;
    response.on("error", () => {});
    serve(target, request, response, fault).catch(() => socket.destroy());
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
  fault: Fault | null,
): Promise<void> {
  switch (fault?.kind) {
    case "answer":
      request.resume();
      response.writeHead(fault.status, { connection: "close", ...fault.headers }).end(fault.body ?? "");
      return;
    case "reset":
      // Rejects, which ends the connection.
      return void (await forward(target, request, { resetAfter: fault.afterBytes ?? 0 }));
    case "lose answer":
      await read(await forward(target, request));
      response.destroy();
      return;
    case "stall":
      await sleep(fault.ms, undefined, { ref: false });
      return copy(await forward(target, request), response, {});
    case "hold": {
      const { until, afterBytes } = fault;
      if (afterBytes !== undefined)
        return copy(await forward(target, request, { hold: { until, afterBytes } }), response, {});
      const body = await read(request);
      await until;
      return copy(await forward(target, request, { body }), response, {});
    }
    case "hang answer":
      return copy(await forward(target, request), response, { hangAfter: fault.afterBytes });
    case "twice": {
      const body = await read(request);
      await read(await forward(target, request, { body }));
      return copy(await forward(target, request, { body }), response, {});
    }
    default:
      return copy(await forward(target, request), response, fault ?? {});
  }
}

type Onward = { body?: Buffer; resetAfter?: number; hold?: Hold };
type Hold = { until: Promise<unknown>; afterBytes: number };

/**
 * Sends the request to the server, with `body` or with the client's bytes. `resetAfter` limits the bytes that arrive.
 */
function forward(
  target: string,
  request: IncomingMessage,
  { body, resetAfter, hold }: Onward = {},
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, url, headers } = request;
  const onward = send(`${target}${url}`, { method, headers, agent: false }, resolve).on("error", reject);
  request.on("close", () => {
    if (!request.complete) onward.destroy();
  });
  if (body) onward.end(body);
  else if (hold) pipeline(request, holding(hold), onward).catch(reject);
  else if (resetAfter === undefined) request.pipe(onward);
  else {
    let left = resetAfter;
    const give = (bytes: Buffer): void => {
      onward.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) onward.destroy(new Error("reset"));
    };
    if (left === 0) onward.destroy(new Error("reset"));
    else request.on("data", give).on("end", () => onward.destroy(new Error("reset")));
  }
  return promise;
}

/** Forwards bytes, with a pause after `afterBytes`. */
const holding = ({ until, afterBytes }: Hold) =>
  async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let left = afterBytes;
    for await (const part of bytes) {
      yield part.subarray(0, left);
      if (part.length >= left) await until;
      yield part.subarray(Math.min(left, part.length));
      left = part.length >= left ? Number.POSITIVE_INFINITY : left - part.length;
    }
  };

async function read(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Pieces per second. */
const DROPS = 10;

async function copy(
  answer: IncomingMessage,
  response: ServerResponse,
  { afterBytes, hangAfter, bytesPerSecond }: { afterBytes?: number; hangAfter?: number; bytesPerSecond?: number },
): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  let left = afterBytes ?? hangAfter ?? Number.POSITIVE_INFINITY;
  for await (const part of answer as AsyncIterable<Buffer>) {
    const size = bytesPerSecond ? Math.max(1, Math.round(bytesPerSecond / DROPS)) : part.length;
    for (let at = 0; at < part.length; at += size) {
      const drop = part.subarray(at, Math.min(at + size, at + left));
      left -= drop.length;
      await new Promise((written) => response.write(drop, written));
      if (left <= 0)
        return void (hangAfter === undefined ? response.destroy() : response.once("close", () => answer.destroy()));
      if (bytesPerSecond) await sleep(1000 / DROPS);
      if (response.destroyed) return void answer.destroy();
    }
  }
  response.end();
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
