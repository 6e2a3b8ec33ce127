// WebSockets between simulated nodes and the hub's object, with the platform's hibernation. The object's end keeps an
// attachment, and the platform answers pings without waking the object.
import { isDead } from "./lives.ts";
import type { NodeHandlers, NodeSocket } from "./node-host.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The object's side of a socket. */
export interface SocketHost {
  message(socket: ServerSocket, data: string): void;
  closed(socket: ServerSocket, code: number, reason: string): void;
}

/** "Abnormal closure" (RFC 6455 §7.4.1): the connection ended without a close frame. */
const ABNORMAL = 1006;
/** Same as in encoder-node/link/node-link.ts. */
const PING_EVERY_MS = 15_000;

/** The node's end. */
export class ClientSocket implements NodeSocket {
  readonly #time: VirtualTime;
  /** Latency in a single direction. */
  latencyMs = 30;
  #handlers: NodeHandlers | null = null;
  #sentUntil = 0;
  #receivedUntil = 0;
  readonly server: ServerSocket;
  readonly #openedAt: number;
  #silentAt = Number.POSITIVE_INFINITY;
  isOpen = true;

  constructor(time: VirtualTime) {
    this.#time = time;
    this.#openedAt = time.now;
    this.server = new ServerSocket(this);
  }

  /** Time of the platform's last answer to a ping. Nodes ping every 15 s, and no event is needed for this. */
  get pongAt(): Date {
    const sinceMs = Math.min(this.#time.now, this.#silentAt) - this.#openedAt;
    return new Date(this.#openedAt + sinceMs - (sinceMs % PING_EVERY_MS));
  }

  listen(handlers: NodeHandlers): void {
    this.#handlers = handlers;
  }

  /** The members of the platform's WebSocket, for a Worker that opened it to an object. */
  addEventListener(event: "message" | "close" | "error", listener: (event: { data: string }) => void): void {
    const before = this.#handlers ?? { message: () => undefined, close: () => undefined };
    if (event === "message") this.#handlers = { ...before, message: (data) => listener({ data }) };
    if (event === "close") this.#handlers = { ...before, close: () => listener({ data: "" }) };
  }

  accept(): void {
    this.latencyMs = 1;
  }

  send(data: string): void {
    if (!this.isOpen) return;
    // A connection keeps the order.
    this.#sentUntil = Math.max(this.#sentUntil, this.#time.now + this.latencyMs);
    this.#time.at(this.#sentUntil, () => {
      if (this.server.isOpen) this.server.host?.message(this.server, data);
    });
  }

  /** Closes with a close frame, or silently if the node is gone or unreachable. */
  close(code = ABNORMAL, reason = ""): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#time.after(this.latencyMs, () => this.server.lost(code, reason));
  }

  /** The network is gone: neither side notices. */
  fallSilent(): void {
    this.isOpen = false;
    this.#silentAt = this.#time.now;
    this.#handlers = null;
  }

  receive(data: string): void {
    this.#receivedUntil = Math.max(this.#receivedUntil, this.#time.now + this.latencyMs);
    this.#time.at(this.#receivedUntil, () => {
      if (this.isOpen) this.#handlers?.message(data);
    });
  }

  /** The server has closed the socket. */
  ended(code: number, reason: string): void {
    const at = Math.max(this.#receivedUntil, this.#time.now + this.latencyMs);
    this.#time.at(at, () => {
      if (!this.isOpen) return;
      this.isOpen = false;
      this.#handlers?.close(code, reason);
    });
  }
}

/** The object's end, with the members of the platform's WebSocket. */
export class ServerSocket {
  readonly #client: ClientSocket;
  #attachment: unknown = null;
  host: SocketHost | null = null;
  tags: readonly string[] = [];
  isOpen = true;

  constructor(client: ClientSocket) {
    this.#client = client;
  }

  get client(): ClientSocket {
    return this.#client;
  }

  get readyState(): number {
    return this.isOpen ? 1 : 3;
  }

  accept(): void {}

  send(data: string): void {
    if (isDead()) return;
    if (!this.isOpen) throw new TypeError("Can't call WebSocket send() after close().");
    this.#client.receive(data);
  }

  close(code = 1000, reason = ""): void {
    if (!this.isOpen || isDead()) return;
    this.isOpen = false;
    this.#client.ended(code, reason);
    this.host?.closed(this, code, reason);
  }

  serializeAttachment(value: unknown): void {
    if (!isDead()) this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }

  /** The client is gone. */
  lost(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.host?.closed(this, code, reason);
  }

  /** The platform drops the connection, as in a deploy. */
  drop(): void {
    this.isOpen = false;
    this.#client.ended(ABNORMAL, "");
  }
}
