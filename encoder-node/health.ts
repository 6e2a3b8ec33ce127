// Answers the probes of a node's supervisor, on a port that the operator names.

import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** Address at which probes are answered. */
export type HealthAddress = { readonly host: string; readonly port: number };

/** Returns the reasons why the node gets no work now, each in a few words; none if it gets work. */
export type NotReady = () => readonly string[];

/**
 * Answers `GET /health` (the process is alive) and `GET /health/ready` (it gets work; otherwise 503 with the reasons).
 * Rejects when the port is taken.
 */
export async function serveHealth({ host, port }: HealthAddress, notReady: NotReady): Promise<Server> {
  const server = createServer((request, response) => {
    // Does not use `new URL`: it throws for some targets that a client may send, such as `//`.
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isKnown = /^\/health(\/ready)?$/.test(path);
    const reasons = path === "/health/ready" ? notReady() : [];
    const status = isKnown ? (reasons.length === 0 ? 200 : 503) : 404;
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(isKnown ? bodyOf(reasons) : { status: "not found" }));
  });
  server.listen(port, host);
  await once(server, "listening");
  server.on("error", () => {}); // A connection that cannot be accepted must not end the node.
  server.unref();
  return server;
}

const bodyOf = (reasons: readonly string[]): object =>
  reasons.length === 0 ? { status: "ready" } : { status: "not ready", reasons };

/** Parses `8788` or `0.0.0.0:8788`; null for other text. Without an address, only this machine reaches the port. */
export function parseHealthAddress(text: string): HealthAddress | null {
  const [, host = "127.0.0.1", digits = ""] = /^(?:\[?([\w.:-]+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits !== "" && port <= 65_535 ? { host, port } : null;
}
