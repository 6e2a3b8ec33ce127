// The reports that wait for the hub's answer on one socket after another.
import type WebSocket from "ws";
import type { NodeFrame } from "#shared/protocol/frames.ts";
import type { LeaseReport } from "#shared/protocol/reports.ts";
import type { SlotReturn } from "./reports.ts";

/** How long a report waits for its `ack` before it is sent by POST. */
const ACK_LIMIT_MS = 10_000;
/** After so long without an `ack` it is not known whether the hub has the slot of a report. */
const SLOT_LIMIT_MS = 60_000;
/** Larger reports are sent by POST: the hub handles one message at a time. */
const MAX_REPORT_CHARS = 256 * 1024;

type Ack = { readonly isAccepted: boolean | null };

export class SocketReports {
  readonly #send: (socket: WebSocket, frame: NodeFrame) => void;
  /** What to do with the answer; null: none will come. */
  readonly #waiting = new Map<number, (ack: Ack | null) => void>();
  #id = 0;

  constructor(send: (socket: WebSocket, frame: NodeFrame) => void) {
    this.#send = send;
  }

  /**
   * Sends a report on a lease, and resolves with whether its job has accepted it; with null when there is no answer in
   * time, or the report is not made for this.
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
        // Only what the job has answered ends the lease at the hub, too: otherwise the node still holds it.
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
