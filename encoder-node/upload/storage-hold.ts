// Finished outputs whose storage is unreachable: the node keeps them, and delivers them when the storage is back.
import type { Logger } from "#shared/log.ts";

/** Time for which outputs are kept. Encoding them again costs more than the disk space. */
const HOLD_MS = 60 * 60_000;

type HoldOptions = {
  readonly log: Logger;
  /** Called when the first file is held, and when the storage takes a file again. */
  readonly changed: (isHolding: boolean) => void;
  readonly now?: () => number;
};

/** The outputs of a task. */
export class StorageHold {
  readonly #options: HoldOptions;
  #since: number | null = null;

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  get isHolding(): boolean {
    return this.#since !== null;
  }

  /** Holds the outputs after the usual retries. False when they were held for an hour. */
  mayWait(): boolean {
    const { log, changed, now = Date.now } = this.#options;
    if (this.#since === null) {
      this.#since = now();
      log.warn("outputs held", { reason: "the storage is unreachable", limitMs: HOLD_MS });
      changed(true);
    }
    return now() - this.#since < HOLD_MS;
  }

  /** The storage has taken a file. */
  end(): void {
    if (this.#since === null) return;
    this.#since = null;
    this.#options.log.info("storage reachable again");
    this.#options.changed(false);
  }
}
