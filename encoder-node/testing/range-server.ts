// Support for range tests: a server on loopback that supports ranges, and fails on demand.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseRange } from "#shared/network/http-headers.ts";

export type TestServer = {
  readonly origin: string;
  readonly seen: IncomingMessage[];
  /** Total bytes of sent bodies. */
  readonly sent: () => number;
  /** From now on all connections fail. */
  die(): void;
};

const servers = new Set<Server>();

export function closeServers(): void {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}

export async function serve(respond: RequestListener): Promise<TestServer> {
  const seen: IncomingMessage[] = [];
  let sent = 0;
  const server = createServer((request, response) => {
    seen.push(request);
    response.once("close", () => {
      sent += Number(response.getHeader("content-length") ?? 0);
    });
    response.on("error", () => undefined);
    respond(request, response);
  });
  servers.add(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sent: () => sent,
    die() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type RangeOptions = { readonly etag?: string; readonly dropAfter?: number };

/** Sends the requested range, as a storage does. The connection breaks after `dropAfter` bytes. */
export function sendRange(
  bytes: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
  { etag = '"v1"', dropAfter = Number.POSITIVE_INFINITY }: RangeOptions = {},
): void {
  const version = request.headers["if-range"] ?? etag;
  const range = version === etag ? parseRange(request.headers.range, bytes.length) : null;
  if (range === "beyond") {
    response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: bytes.length - 1 };
  const headers = { etag, "content-length": end - start + 1 };
  const part = range ? { "content-range": `bytes ${start}-${end}/${bytes.length}` } : {};
  response.writeHead(range ? 206 : 200, { ...headers, ...part });
  const body = bytes.subarray(start, end + 1);
  if (dropAfter >= body.length) response.end(body);
  else response.write(body.subarray(0, dropAfter), () => setTimeout(() => response.destroy(), 10));
}

/** Bytes without repetition: neighbors and blocks differ. */
export const noise = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 11));
