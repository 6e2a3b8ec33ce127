// A small HTTP server on the loopback interface, for the demo and the tests.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { origin } from "../home/constants.ts";

export type LoopbackServer = {
  /** `http://127.0.0.1:<port>`, without a slash. */
  readonly origin: string;
  /** Closes the server and all open connections. */
  close(): Promise<void>;
};

/** Listens on any free port. */
export async function serveLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: origin(port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
