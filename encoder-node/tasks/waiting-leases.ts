// The leases of this node whose tasks wait for those of other leases. They have no slot meanwhile.
import type { LeaseId } from "#shared/ids.ts";
import type { WaitForOthers } from "../task/task-deps.ts";

/** Each may have a process of ffmpeg that waits, too. */
const MAX_WAITING = 8;

export class WaitingLeases {
  readonly #leases = new Set<LeaseId>();
  #isClosed = false;

  has(lease: LeaseId): boolean {
    return this.#leases.has(lease);
  }

  /** The lease has ended. */
  remove(lease: LeaseId): void {
    this.#leases.delete(lease);
  }

  /** From now on no task may begin to wait. */
  close(): void {
    this.#isClosed = true;
  }

  /** How a lease's task waits; `giveBack` gives its slot back. */
  of(lease: LeaseId, giveBack: () => void): WaitForOthers {
    return {
      begin: () => {
        if (this.#isClosed || this.#leases.size >= MAX_WAITING) return false;
        this.#leases.add(lease);
        giveBack();
        return true;
      },
      end: () => this.remove(lease),
    };
  }
}
