// Browser Integrity Check: Cloudflare runs it for the hosts of a zone unless its owner switches it off.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

const STATUS = 403;
const PAGE = "<!DOCTYPE html><html><head><title>Access denied</title></head><body><h1>Error 1010</h1></body></html>";
const HEADERS = {
  server: "cloudflare",
  "content-type": "text/html; charset=UTF-8",
  "content-length": PAGE.length,
  connection: "close",
};

/** True if a request names its program, and so passes the check. */
export const hasUserAgent = ({ headers }: { headers: { readonly "user-agent"?: string | undefined } }): boolean =>
  Boolean(headers["user-agent"]);

export const respondBlocked = (response: ServerResponse): unknown => response.writeHead(STATUS, HEADERS).end(PAGE);

export function respondBlockedOnSocket(socket: Duplex): void {
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS]}\r\n${lines.join("")}\r\n${PAGE}`);
}
