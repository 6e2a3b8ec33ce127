// Headers that are forwarded to the Worker, and requests that are rejected because two HTTP parsers may read them
// differently.

import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, STATUS_CODES } from "node:http";

/**
 * The header that proves to the Worker that a request came through the front server (control-plane/worker-options.ts).
 */
export const FRONT_HEADER = "copra-front";

/**
 * Headers that may appear only once. If a header appears twice, servers take the first, the last or both (RFC 9110
 * §5.3).
 */
const SINGLE = new Set([
  "authorization",
  "content-length",
  "content-type",
  "expect",
  "host",
  "idempotency-key",
  "range",
  "transfer-encoding",
]);

/** Headers about a connection, not about the request (RFC 9110 §7.6.1). The front server itself handles `expect`. */
const HOP_BY_HOP = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that the Worker trusts because Cloudflare, Miniflare or the front server set them; removed from requests. */
const RESERVED = /^(?:cf|mf)-|^copra-front$/;

export type Head = {
  /** The request target as the client sent it. */
  readonly target: string;
  /** Alternating names and values, as in `rawHeaders` of Node's http. */
  readonly rawHeaders: readonly string[];
};

/** The reason to reject the request, in a sentence; null if the request is valid. */
export function requestHeadError({ target, rawHeaders }: Head): string | null {
  if (!target.startsWith("/")) return "The request's target must be a path";
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const doubled = names.find((name, index) => SINGLE.has(name) && names.indexOf(name) !== index);
  if (doubled !== undefined) return `The header \`${doubled}\` must come once`;
  if (names.includes("transfer-encoding") && names.includes("content-length")) {
    return "A request has either Content-Length or Transfer-Encoding";
  }
  return null;
}

/**
 * The headers to forward to the Worker, in the form of `rawHeaders`, with the client's address and the front's secret.
 */
export function forwardedHeaders({ rawHeaders }: Head, clientAddress: string, secret: string): string[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  const named = pairs.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => value.split(","));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())]);
  const forwarded = pairs.filter(([name]) => !dropped.has(name.toLowerCase()) && !RESERVED.test(name.toLowerCase()));
  return [...forwarded.flat(), "cf-connecting-ip", clientAddress, FRONT_HEADER, secret];
}

/** A response's headers, without the headers of the connection to the Worker. */
export const responseHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));

/** The head of a response as text. With `close`, it is the last response of the connection. */
export function formatResponseHead(
  { statusCode = 502, rawHeaders }: Pick<IncomingMessage, "statusCode" | "rawHeaders">,
  { close }: { close: boolean },
): string {
  let lines = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ""}\r\n`;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!close || !HOP_BY_HOP.has(name.toLowerCase())) lines += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return `${lines}${close ? "connection: close\r\n" : ""}\r\n`;
}
