// The front server's own error responses, in the format of the API's errors.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { errors } from "undici";
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
  slowBody: {
    status: 408,
    code: "request_not_valid",
    message: "The body of the request came too slowly: send at least 1 kB in a second",
  },
  manyRequests: {
    status: 429,
    code: "rate_limited",
    message: "Too many requests from this IP address wait for a response; send fewer at a time",
    headers: { "retry-after": "5" },
  },
  manyStreams: {
    status: 429,
    code: "rate_limited",
    message: "Too many event streams are open from this IP address, or in all; close some",
    headers: { "retry-after": "10" },
  },
  unavailable: {
    status: 503,
    code: "service_unavailable",
    message: "The service is starting or stopping; try again in a few seconds",
    headers: { "retry-after": "2" },
  },
  lost: {
    status: 500,
    code: "internal_error",
    message:
      "The service closed its connection before it responded. Whether it carried out the request is not known; look " +
      "before you send it again",
  },
} as const satisfies Record<string, ErrorResponse>;

/** Nothing listens on the Worker's port, or this process closes its connections. */
const NOT_RUNNING = new Set(["ECONNREFUSED", "UND_ERR_DESTROYED", "UND_ERR_CLOSED", "UND_ERR_CONNECT_TIMEOUT"]);

/** The code of a failed request to the Worker, for the log: an errno, or a code of undici. */
export const causeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error);

/** The response to a client if its request could not be sent to the Worker, or got no response. */
export function responseToFailure(error: unknown): ErrorResponse {
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.RequestContentLengthMismatchError)
    return errorResponses.notHttp;
  return NOT_RUNNING.has(causeOf(error)) ? errorResponses.unavailable : errorResponses.lost;
}

export function sendError(response: ServerResponse, { status, code, message, headers }: ErrorResponse): void {
  response.shouldKeepAlive = false;
  response.writeHead(status, { ...headers, "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify({ message, error_code: code, status: "error" }));
}

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
