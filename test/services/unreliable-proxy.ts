// A proxy that breaks its connections after set numbers of bytes from the client, as a bad network does.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Breaks when the client has sent this many bytes in total, or before the response to these bytes. */
export type Break = { readonly afterBytes: number; readonly lose: "request" | "response" };

export type UnreliableProxy = {
  readonly origin: string;
  /** The number of breaks so far. */
  breaks(): number;
  /** Breaks connections at these places next, and counts bytes from now on. */
  plan(breaks: readonly Break[]): void;
  close(): Promise<void>;
};

export async function startUnreliableProxy(target: string): Promise<UnreliableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let planned: Break[] = [];
  let sentBytes = 0;
  let count = 0;
  const breakAll = (): void => {
    planned.shift();
    count += 1;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        (socket === client ? upstream : client).destroy();
      });
    }
    client.on("data", (bytes) => {
      sentBytes += bytes.length;
      const [next] = planned;
      if (next?.lose === "request" && sentBytes >= next.afterBytes) breakAll();
      else if (!upstream.write(bytes)) client.pause();
    });
    upstream.on("drain", () => client.resume());
    upstream.on("data", (bytes) => {
      const [next] = planned;
      if (next?.lose === "response" && sentBytes >= next.afterBytes) breakAll();
      else client.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breaks: () => count,
    plan: (breaks) => {
      planned = [...breaks];
      sentBytes = 0;
      count = 0;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
