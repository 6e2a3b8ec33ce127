// How many tasks may upload beside those that encode: uploads are cheap, but what waits for them fills the disk.
import { setTimeout as sleep } from "node:timers/promises";
import { limiter } from "../async/in-parallel.ts";
import { untilAborted } from "../async/until-aborted.ts";

export interface UploadSlots {
  /**
   * Resolves with what gives the slot back, once there is one. Until then a task keeps the slot that it encoded in, so
   * that a node with slow storages takes no more work than its disk holds. Rejects when `signal` aborts.
   */
  take(signal: AbortSignal): Promise<() => void>;
}

/** How often the disk is looked at while it is too full. */
const LOOK_EVERY_MS = 5000;

/** `capacity` tasks at a time; none while `hasRoom` says no. */
export function createUploadSlots(capacity: number, hasRoom: () => Promise<boolean>): UploadSlots {
  const limit = limiter(capacity);
  return {
    async take(signal) {
      const { promise: left, resolve: leave } = Promise.withResolvers<void>();
      const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
      void limit(() => {
        enter();
        return left;
      });
      try {
        await untilAborted(entered, signal);
        while (!(await hasRoom())) await sleep(LOOK_EVERY_MS, undefined, { signal });
        return leave;
      } catch (error) {
        // Its turn may still come: then it is over at once.
        leave();
        throw error;
      }
    },
  };
}
