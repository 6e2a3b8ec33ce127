// Limits the tasks that upload beside encoding tasks: uploads are cheap, but files that wait for them fill the disk.
import { setTimeout as sleep } from "node:timers/promises";
import { Limiter } from "../async/in-parallel.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { DISK_RESERVE_BYTES } from "../ffmpeg/limits.ts";

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
