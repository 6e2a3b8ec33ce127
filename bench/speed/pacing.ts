// Links of a given rate: an HTTP source that sends at this rate, and a TCP proxy that accepts bytes at this rate.

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

const SLICE_BYTES = 16 * 1024;

/** A link, shared by all transfers through it. */
export class PacedLink {
  readonly #bytesPerMs: number;
  #freeAt = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /** Resolves when the bytes have passed. */
  async pass(count: number): Promise<void> {
    const now = performance.now();
    this.#freeAt = Math.max(now, this.#freeAt) + count / this.#bytesPerMs;
    const waitMs = this.#freeAt - now;
    // Timers are about a millisecond late. Short waits add up in `#freeAt` until a timer is worth it.
    if (waitMs > 5) await sleep(waitMs);
  }

  stream(): Transform {
    const link = this;
    return new Transform({
      highWaterMark: SLICE_BYTES,
      transform(chunk: Buffer, _, done) {
        void link.pass(chunk.length).then(() => done(null, chunk), done);
      },
    });
  }
}

type PacedProxy = { readonly origin: string; close(): void };

/** Forwards TCP connections to a port of this machine. The link paces the clients' bytes. */
export async function startPacedProxy(targetPort: number, up: PacedLink, down: PacedLink | null): Promise<PacedProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket
        .on("error", () => undefined)
        .once("close", () => {
          sockets.delete(socket);
          client.destroy();
          target.destroy();
        });
    }
    client.pipe(up.stream()).pipe(target);
    if (down) target.pipe(down.stream()).pipe(client);
    else target.pipe(client);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
