// How often and how long uploads are retried.
import type { BackoffPolicy } from "#shared/backoff.ts";
import type { Logger } from "#shared/log.ts";

/** Number and delays of the retries of a part, and the time limit of an attempt. */
export type RetryPolicy = {
  readonly retries: number;
  readonly backoff: BackoffPolicy;
  /** The time limit of an attempt: a base, plus time for each KiB. */
  readonly limit: { readonly baseMs: number; readonly msPerKib: number };
};
/**
 * A storage that is too slow would occupy its slot forever. 1 MiB a minute is also the minimum rate of a source
 * (source/fetch/source-timeouts.ts). The base is for slow responses and small files.
 */
const LIMIT: RetryPolicy["limit"] = { baseMs: 10 * 60_000, msPerKib: 60_000 / 1024 };
/** About five minutes: an upload holds no encoder, and waiting costs less than encoding the outputs again. */
export const RETRIES: RetryPolicy = { retries: 24, backoff: { firstMs: 500, maxMs: 30_000 }, limit: LIMIT };
/** A few seconds: the receiver of a form may already have the file, and each attempt sends the whole file again. */
export const FORM_RETRIES: RetryPolicy = { ...RETRIES, retries: 2 };
/**
 * If a host refuses connections or does not resolve, the `storage` is usually wrong; a restart is far less common. The
 * upload gives up after 13 s at most, 6 s on average.
 */
export const NO_HOST_RETRIES: Pick<RetryPolicy, "retries" | "backoff"> = {
  retries: 5,
  backoff: { firstMs: 500, maxMs: 5000 },
};

// Finished outputs whose storage is unreachable: the node keeps them, and delivers them when the storage is back.

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
