// Counts the slots of this node: the tasks of each class that it runs at a time.

import { setTimeout as sleep } from "node:timers/promises";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { Limiter, untilAborted } from "../async/in-parallel.ts";
import { DISK_RESERVE_BYTES } from "../ffmpeg/limits.ts";

export interface Slots {
  free(): SlotCounts;
  take(slotClass: SlotClass): void;
  give(slotClass: SlotClass): void;
  /** Makes unused slots free. */
  open(): void;
  /** Makes unused slots unavailable. */
  close(): void;
}

export function createSlots(capacity: SlotCounts): Slots {
  const used: SlotCounts = { inspect: 0, encode: 0 };
  let isOpen = true;
  const freeOf = (slotClass: SlotClass): number => (isOpen ? Math.max(0, capacity[slotClass] - used[slotClass]) : 0);
  return {
    free: () => ({ inspect: freeOf("inspect"), encode: freeOf("encode") }),
    take: (slotClass) => {
      used[slotClass] += 1;
    },
    give: (slotClass) => {
      used[slotClass] -= 1;
    },
    open: () => {
      isOpen = true;
    },
    close: () => {
      isOpen = false;
    },
  };
}

// Limits the tasks that upload beside encoding tasks: uploads are cheap, but files that wait for them fill the disk.

/** With less free disk space, the node accepts no more work until an upload has ended. */
export const UPLOAD_DISK_BYTES = 4 * DISK_RESERVE_BYTES;
/** Interval at which the free disk space is checked while it is too small. */
const DISK_CHECK_MS = 5000;

export class UploadSlots {
  readonly #limiter: Limiter;
  readonly #hasDiskSpace: () => Promise<boolean>;

  /** `capacity` tasks at a time; none while `hasDiskSpace` returns false. */
  constructor(capacity: number, hasDiskSpace: () => Promise<boolean>) {
    this.#limiter = new Limiter(capacity);
    this.#hasDiskSpace = hasDiskSpace;
  }

  /**
   * Resolves when a slot is free, with a function that releases it. Until then a task keeps its encode slot: a node
   * with slow storages accepts no more work than its disk holds. Rejects when `signal` aborts.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    void this.#limiter.run(() => {
      enter();
      return released;
    });
    try {
      await untilAborted(entered, signal);
      while (!(await this.#hasDiskSpace())) await sleep(DISK_CHECK_MS, undefined, { signal });
      return release;
    } catch (error) {
      // The slot may still be given to this caller, and is then released at once.
      release();
      throw error;
    }
  }
}
