// The front server's own error responses, in the format of the API's errors.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "#shared/errors.ts";

export type ErrorResponse = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export const errorResponses = {
  notHttp: { status: 400, code: "request_not_valid", message: "The request is not valid HTTP/1.1" },
  largeHead: { status: 431, code: "request_not_valid", message: "The request's headers have more than 16 KiB" },
  connect: { status: 405, code: "method_not_allowed", message: "CONNECT is not allowed here" },
  upgrade: { status: 400, code: "request_not_valid", message: "A connection can only be upgraded to WebSocket" },
  unavailable: {
    status: 503,
    code: "service_unavailable",
    message: "The service is starting or stopping; try again in a few seconds",
    headers: { "retry-after": "2" },
  },
} as const satisfies Record<string, ErrorResponse>;

/** Responds on a connection that has no response object, and closes it. */
export function sendErrorOnSocket(socket: Duplex, { status, code, message, headers = {} }: ErrorResponse): void {
  const body = JSON.stringify({ message, error_code: code, status: "error" });
  const fields = {
    ...headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}
