// Serves fetch-style handlers to workerd, over HTTP on Unix sockets.
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { messageOf } from "#shared/log.ts";
import { type OutboundRequest, pairsOf } from "../outbound.ts";
import { log } from "../runtime.ts";

type Handler = (request: OutboundRequest & Pick<Request, "json">) => Promise<Response>;

/** The longest path of a socket, in bytes (unix(7)). */
const MAX_PATH = 107;

/** Listens at `path`, and returns it. A handler that throws gives status 502. Throws if the path is too long. */
export async function serveOn(path: string, handle: Handler): Promise<string> {
  if (Buffer.byteLength(path) > MAX_PATH) {
    throw new Error(`The path of the data folder is too long: ${path} may have ${MAX_PATH} bytes`);
  }
  rmSync(path, { force: true });
  // A request to a proxy has the host in its URL.
  const server = createServer({ requireHostHeader: false }, async (incoming, outgoing) => {
    try {
      const response = await handle(await requestOf(incoming));
      outgoing.writeHead(response.status, [...response.headers].flat());
      if (response.body) await pipeline(response.body, outgoing);
      else outgoing.end();
    } catch (error) {
      log.warn("request of the Worker failed", { reason: messageOf(error) });
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

/** workerd sends the whole URL to proxies, and the path to other servers. Bodies are small. */
async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { url = "/", method = "GET", headers } = incoming;
  const chunks: Buffer[] = await incoming.toArray();
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return new Request(new URL(url, "http://local"), { method, headers: pairsOf(headers), body });
}
