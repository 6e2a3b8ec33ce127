// The connection of a simulated node. It reconnects like a real node (encoder-node/link/node-link.ts).
import { backoffMs } from "#shared/backoff.ts";
import type { HubFrame } from "#shared/protocol/frames.ts";
import type { NodeHost, NodeSocket } from "./platform/node-host.ts";

export type LinkOptions = {
  readonly nodeId: string;
  readonly token: string;
  /** Latency in a single direction, in ms. */
  readonly latencyMs: number;
  /** The node's position, in degrees. */
  readonly position?: { readonly latitude: number; readonly longitude: number };
};

/** The slot that a task returns with its last report (encoder-node/link/reports.ts). */
export type SlotReturn = { freed(): object; acknowledged(): void };

export interface LinkOwner {
  /** The first frame of a connection. */
  hello(): object;
  received(frame: HubFrame): void;
  readonly isBusy: boolean;
}

/** Time for which a report waits for its `ack`. */
const ACK_LIMIT_MS = 10_000;
const SLOT_LIMIT_MS = 60_000;
const RECONNECT = { firstMs: 500, maxMs: 30_000 };
const RECONNECT_BUSY = { firstMs: 500, maxMs: 3000 };
const MAX_SPREAD_BUSY_MS = 8000;

export class SimulatedLink {
  readonly #platform: NodeHost;
  readonly #options: LinkOptions;
  readonly #owner: LinkOwner;
  #socket: NodeSocket | null = null;
  #session: string | null = null;
  #spreadMs: number | null = null;
  #failures = 0;
  readonly #reports = new Map<number, (ack: { isAccepted: boolean | null } | null) => void>();
  #reportId = 0;
  #offlineUntil = 0;
  isGone = false;
  /** Time of the last welcome by the hub; ms since 1970. */
  welcomedAt: number | null = null;
  connects = 0;

  constructor(platform: NodeHost, options: LinkOptions, owner: LinkOwner) {
    this.#platform = platform;
    this.#options = options;
    this.#owner = owner;
  }

  get isConnected(): boolean {
    return this.#socket?.isOpen === true && this.welcomedAt !== null;
  }

  /** True if the node has no network. */
  get isOffline(): boolean {
    return this.#platform.time.now < this.#offlineUntil;
  }

  /** The node has no network for this time; neither side notices. */
  goOffline(forMs: number): void {
    this.#offlineUntil = this.#platform.time.now + forMs;
    this.#socket?.fallSilent();
    this.#lost();
  }

  async connect(): Promise<void> {
    if (this.isOffline) return this.#reconnect();
    const { token, latencyMs, nodeId, position } = this.#options;
    this.connects += 1;
    this.welcomedAt = null;
    const session = this.#session === null ? {} : { "copra-node-session": this.#session };
    const headers = { authorization: `Bearer ${token}`, "copra-node-name": nodeId, ...session };
    await this.#platform.time.sleep(latencyMs);
    const socket = await this.#platform.connect(headers, { latencyMs, position }).catch(() => null);
    if (this.isGone) return socket?.close();
    if (this.isOffline) socket?.fallSilent();
    if (!socket || this.isOffline) return this.#reconnect();
    socket.listen({
      message: (data) => this.#receive(data),
      close: () => {
        if (this.#socket === socket) this.#lost();
      },
    });
    this.#socket = socket;
    this.send(this.#owner.hello());
  }

  send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  /** Sends a report on a lease by the socket; resolves to null if there is no answer. */
  report(report: object, slot?: SlotReturn): Promise<boolean | null> {
    if (!this.isConnected) return Promise.resolve(null);
    const id = this.#reportId++;
    return new Promise((resolve) => {
      this.#reports.set(id, (ack) => {
        if (ack && ack.isAccepted !== null) slot?.acknowledged();
        resolve(ack?.isAccepted ?? null);
      });
      this.#platform.time.after(ACK_LIMIT_MS, () => (slot ? resolve(null) : this.#acknowledge(id, null)));
      if (slot) this.#platform.time.after(SLOT_LIMIT_MS, () => this.#reports.has(id) && this.#leave());
      this.send({ type: "report", id, report, ...(slot ? { slots: slot.freed() } : {}) });
    });
  }

  /** Closes the connection of a report that has no answer. The node connects again. */
  #leave(): void {
    this.#socket?.close();
    this.#lost();
  }

  #lost(): void {
    this.#socket = null;
    for (const id of [...this.#reports.keys()]) this.#acknowledge(id, null);
    this.#reconnect();
  }

  #acknowledge(id: number, ack: { isAccepted: boolean | null } | null): void {
    this.#reports.get(id)?.(ack);
    this.#reports.delete(id);
  }

  /** The process dies, with or without a closed connection. */
  end({ isSilent }: { readonly isSilent: boolean }): void {
    this.isGone = true;
    if (isSilent) this.#socket?.fallSilent();
    else this.#socket?.close();
  }

  #reconnect(): void {
    if (this.isGone) return;
    const { time, random } = this.#platform;
    const { isBusy } = this.#owner;
    const wasAccepted = this.#failures === 0 && this.#spreadMs !== null;
    this.#failures += 1;
    const spreadMs = Math.min(this.#spreadMs ?? 0, isBusy ? MAX_SPREAD_BUSY_MS : Number.POSITIVE_INFINITY);
    const delayMs = wasAccepted
      ? random() * spreadMs
      : backoffMs(this.#failures, isBusy ? RECONNECT_BUSY : RECONNECT, random);
    time.after(delayMs, () => void this.connect());
  }

  #receive(data: string): void {
    if (!data.startsWith("{")) return;
    const frame = JSON.parse(data) as HubFrame;
    if (frame.type === "welcome") {
      this.welcomedAt = this.#platform.time.now;
      this.#failures = 0;
    }
    if (frame.type === "welcome" || frame.type === "session") {
      this.#session = frame.session ?? null;
      this.#spreadMs = frame.reconnectSpreadMs ?? null;
    }
    if (frame.type === "ack") this.#acknowledge(frame.id, frame);
    this.#owner.received(frame);
  }
}
