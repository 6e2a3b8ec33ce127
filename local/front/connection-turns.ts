// The order of the requests of each connection. Node's server emits pipelined requests at once, and buffers later
// responses until their turn (RFC 9112 §9.3.2).
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The most requests of a connection that may wait for earlier responses. Browsers and proxies do not pipeline. */
const MAX_WAITING = 32;

export class ConnectionTurns {
  readonly #last = new WeakMap<Duplex, Promise<void>>();
  readonly #unanswered = new WeakMap<Duplex, number>();

  /** True if a response of the connection has not been written yet. */
  isBusy(socket: Duplex): boolean {
    return (this.#unanswered.get(socket) ?? 0) > 0;
  }

  /** Calls `respond` after the earlier responses have been written. Closes a connection with too many requests. */
  take(socket: Duplex, response: ServerResponse, respond: () => Promise<void>): void {
    const unanswered = this.#unanswered.get(socket) ?? 0;
    if (unanswered > MAX_WAITING) return void socket.destroy();
    this.#unanswered.set(socket, unanswered + 1);
    this.#last.set(
      socket,
      this.#afterwards(this.#last.get(socket), socket, response, respond).catch(() => void socket.destroy()),
    );
  }

  async #afterwards(
    before: Promise<void> | undefined,
    socket: Duplex,
    response: ServerResponse,
    respond: () => Promise<void>,
  ): Promise<void> {
    await before;
    if (socket.destroyed) return;
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    await respond();
    await closed;
    this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1);
  }
}
