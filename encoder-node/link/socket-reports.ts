// Reports that wait for the hub's answer, on consecutive sockets.
import type WebSocket from "ws";
import type { NodeFrame } from "#shared/protocol/frames.ts";
import type { LeaseReport } from "#shared/protocol/reports.ts";
import type { SlotReturn } from "./reports.ts";

/** A report waits for its `ack` for this time before it is sent by POST. */
const ACK_LIMIT_MS = 10_000;
/** After this time without an `ack` it is unknown if the hub has the slot of a report. */
const SLOT_LIMIT_MS = 60_000;
/** Larger reports are sent by POST: the hub handles messages one after the other. */
const MAX_REPORT_CHARS = 256 * 1024;

type Ack = { readonly isAccepted: boolean | null };

export class SocketReports {
  readonly #send: (socket: WebSocket, frame: NodeFrame) => void;
  /** Callbacks for the answers; null: no answer will come. */
  readonly #waiting = new Map<number, (ack: Ack | null) => void>();
  #id = 0;

  constructor(send: (socket: WebSocket, frame: NodeFrame) => void) {
    this.#send = send;
  }

  /**
   * Sends a report on a lease. Resolves to true or false when its job has accepted or rejected the report. Resolves to
   * null when no answer comes in time, or when the socket does not take this kind of report.
   */
  send(socket: WebSocket, report: LeaseReport, slot?: SlotReturn): Promise<boolean | null> {
    const id = this.#id++;
    const frame = { type: "report", id, report } as const;
    if (JSON.stringify(frame).length > MAX_REPORT_CHARS) return Promise.resolve(null);
    return new Promise((resolve) => {
      const timers = [setTimeout(() => (slot ? resolve(null) : this.#answer(id, null)), ACK_LIMIT_MS)];
      // The next hello states which slots are free.
      if (slot) timers.push(setTimeout(() => socket.terminate(), SLOT_LIMIT_MS));
      this.#waiting.set(id, (ack) => {
        for (const timer of timers) clearTimeout(timer);
        // Only an answer from the job also ends the lease at the hub: otherwise the node still holds the lease.
        if (ack && ack.isAccepted !== null) slot?.acknowledged();
        resolve(ack?.isAccepted ?? null);
      });
      this.#send(socket, slot ? { ...frame, slots: slot.freed() } : frame);
    });
  }

  acknowledge({ id, isAccepted }: Ack & { readonly id: number }): void {
    this.#answer(id, { isAccepted });
  }

  /** The connection is lost: no answer will come. */
  lose(): void {
    for (const id of [...this.#waiting.keys()]) this.#answer(id, null);
  }

  #answer(id: number, ack: Ack | null): void {
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    answer?.(ack);
  }
}
