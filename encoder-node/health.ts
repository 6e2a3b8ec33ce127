// Signs of life of a node for its supervisor: a port for probes, or a file. Both are off unless the operator names
// them.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type Logger, messageOf } from "#shared/log.ts";

/** Address at which probes are answered. */
export type HealthAddress = { readonly host: string; readonly port: number };

/** Returns the reasons why the node gets no work now, each in a few words; none if it gets work. */
export type NotReady = () => readonly string[];

const HEARTBEAT_MS = 10_000;

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

/**
 * Writes a file now and every 10 s: for a supervisor, a file older than a minute means that the node hangs. The file
 * has the same JSON as the response of `/health/ready`. Returns a function that stops the writes.
 */
export function writeHeartbeats(file: string, notReady: NotReady, log: Logger): () => void {
  const write = (): void => {
    try {
      writeFileSync(file, `${JSON.stringify(bodyOf(notReady()))}\n`);
    } catch (error) {
      log.warn("heartbeat not written", { file, error: messageOf(error) });
    }
  };
  write();
  const timer = setInterval(write, HEARTBEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const bodyOf = (reasons: readonly string[]): object =>
  reasons.length === 0 ? { status: "ready" } : { status: "not ready", reasons };

/** Parses `8788` or `0.0.0.0:8788`; null for other text. Without an address, only this machine reaches the port. */
export function parseHealthAddress(text: string): HealthAddress | null {
  const [, host = "127.0.0.1", digits = ""] = /^(?:\[?([\w.:-]+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits !== "" && port <= 65_535 ? { host, port } : null;
}
