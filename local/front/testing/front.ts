// A front server in front of a test's server, which replaces the Worker.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { createLogger } from "#shared/log.ts";
import { type FrontOptions, startFront } from "../front-server.ts";

/** Nothing listens on this port: the system chooses higher ones for servers of tests. */
const CLOSED_PORT = 2;

export type TestFront = {
  readonly port: number;
  readonly origin: string;
  readonly backend: Server;
  /** The lines that the front server has logged. */
  readonly logged: string[];
};

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Starts both servers for the current test; without a listener, the front server finds its Worker's port closed. */
export async function frontOf(
  listener: RequestListener | null,
  options: Partial<FrontOptions> = {},
): Promise<TestFront> {
  const backend = createServer(listener ?? undefined).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const logged: string[] = [];
  const log = createLogger({ write: (line) => logged.push(line), now: Date.now, level: "info" });
  const upstream = { origin: `http://127.0.0.1:${listener ? portOf(backend) : CLOSED_PORT}`, secret: "s" };
  const front = await startFront({ port: 0, log, ...options }, upstream);
  onTestFinished(() => {
    for (const server of [front, backend]) {
      server.close();
      server.closeAllConnections();
    }
  });
  return { port: portOf(front), origin: `http://127.0.0.1:${portOf(front)}`, backend, logged };
}

/** Opens a connection from an address of this machine; the test closes it. */
export function connectTo(port: number, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}
