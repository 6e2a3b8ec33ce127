// Fetches ranges of a source by HTTP: with retries and renewed URLs, and always of the same version.
import { setTimeout as sleep } from "node:timers/promises";
import type { AppError } from "#shared/errors.ts";
import { Renewable, type Signed } from "../../async/renewable.ts";
import { Stopwatch } from "../../async/stopwatch.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import {
  changed,
  connectionFailure,
  HttpStatusFailure,
  isRejection,
  mayHaveExpired,
  refusedMidway,
  SlowSource,
  tooLong,
} from "./source-failure.ts";
import { rangesByPiece } from "./source-pieces.ts";
import { type HttpSource, type LocatedPiece, type Part, type Sink, SourceRequests } from "./source-requests.ts";
import { canRetry, LIMIT_MS, pauseMs } from "./source-timeouts.ts";

export type FetchedSource = HttpSource & {
  /** Returns the same pieces with URLs that are valid again, or with the same URLs if there are no others. */
  readonly refresh?: (() => Promise<readonly LocatedPiece[]>) | undefined;
};

/** `end` null: to the end of a source with a single piece. From 0, this is a request without a range. */
export type OpenRange = { readonly start: number; readonly end: number | null };

/**
 * New bytes of a fetch that restore all its retries. A host that breaks each connection after as many bytes is still
 * faster than the minimum rate.
 */
const PROGRESS_BYTES = 64 * 1024;

export class SourceFetcher {
  readonly #source: FetchedSource;
  readonly #requests: SourceRequests;
  readonly #signed: Renewable<readonly LocatedPiece[]>;
  readonly #limit = new ConnectionLimit();
  readonly #clock = new Stopwatch();

  constructor(source: FetchedSource) {
    this.#source = source;
    this.#requests = new SourceRequests(source);
    this.#signed = new Renewable(source.pieces, () => renewedPieces(source));
  }

  /** Size of the source; null until the host sends it. */
  get sizeBytes(): number | null {
    const sizes = this.#requests.versions.map(({ totalBytes }) => totalBytes);
    return sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0);
  }

  /** Identifies the version of a source with a single piece; null if it is unknown. */
  get validator(): string | null {
    return this.#requests.versions[0]?.validator ?? null;
  }

  /** The current URL of the first piece. */
  get url(): string {
    return this.#signed.latest.value[0]?.url ?? "";
  }

  /** True if nothing is lost when a fetch stops. */
  get canResume(): boolean {
    return this.#requests.canResume;
  }

  /** Time of all fetches together. */
  get spentMs(): number {
    return this.#clock.ms;
  }

  /**
   * Fetches the bytes of a range in order. Throws AppError: `input_http_<status>`, `input_unreachable` (also when the
   * source has changed), `input_timeout` (silent or too slow), `input_address_not_allowed`. Also throws the errors of
   * the sink. An abort rejects with the signal's reason.
   */
  async fetch({ start, end }: OpenRange, sink: Sink, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#clock.start();
    try {
      const common = { sink, signal, host: "" };
      if (end === null) return await this.#fetchPart({ piece: 0, offset: 0, at: start, end, ...common });
      const sizes = this.#requests.versions.map(({ totalBytes }) => ({ sizeBytes: totalBytes ?? 0 }));
      for (const range of rangesByPiece(sizes, { start, end })) {
        const offset = range.position - range.start;
        await this.#fetchPart({ ...range, offset, at: range.start, ...common });
      }
    } finally {
      this.#clock.stop();
    }
  }

  /** As `SourceRequests.askForRanges`. */
  askForRanges(signal: AbortSignal): Promise<boolean> {
    return this.#requests.askForRanges(this.#signed.latest.value[0], signal);
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#requests.close();
  }

  async #fetchPart(range: Omit<Part, "onResponse" | "onBytes">): Promise<void> {
    let used = this.#signed.latest;
    const onResponse = (): void => {
      used.mayHaveExpired = true;
    };
    const part: Part = { ...range, onResponse, onBytes: () => this.#checkTime(part.host) };
    const { signal } = part;
    let credited = part.at;
    let furthest = part.at;
    for (let failures = 1; ; failures++) {
      await this.#limit.begin(signal);
      used = this.#signed.latest;
      const before = part.at;
      const failure = await this.#requests.send(part, used.value[part.piece]).then(
        () => null,
        (error: unknown) => connectionFailure(error, part.host),
      );
      const mayRepeat = this.#limit.end(failure !== null && part.at === before && isRejection(failure));
      if (!failure) return;
      signal.throwIfAborted();
      if (mayRepeat) {
        failures -= 1;
        continue;
      }
      furthest = Math.max(furthest, part.at);
      if (furthest - credited >= PROGRESS_BYTES && !(failure instanceof SlowSource)) {
        credited = furthest;
        failures = 1;
      }
      if (await this.#renews(used, failure, signal)) continue;
      if (failure instanceof HttpStatusFailure && mayHaveExpired(failure) && this.#requests.hasResponded)
        throw refusedMidway({ statusCode: failure.statusCode, host: part.host });
      if (!canRetry(failure, failures, this.#requests.hasResponded)) throw failure;
      await sleep(pauseMs(failure, failures, this.#requests.timeouts), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
      this.#checkTime(part.host);
    }
  }

  /** True if there are other URLs to try. */
  async #renews(used: Signed<readonly LocatedPiece[]>, failure: AppError, signal: AbortSignal): Promise<boolean> {
    if (this.#source.refresh === undefined || !mayHaveExpired(failure)) return false;
    if (!(await this.#signed.renew(used, signal))) return false;
    return this.#signed.latest.value.some(({ url }, at) => url !== used.value[at]?.url);
  }

  #checkTime(host: string): void {
    const { limitMs = LIMIT_MS } = this.#requests.timeouts;
    if (this.#clock.ms >= limitMs) throw tooLong(host, limitMs);
  }
}

async function renewedPieces({ pieces, refresh }: FetchedSource): Promise<readonly LocatedPiece[]> {
  const fresh = (await refresh?.()) ?? pieces;
  const isSame =
    fresh.length === pieces.length && fresh.every((piece, at) => piece.sizeBytes === pieces[at]?.sizeBytes);
  if (!isSame) throw changed("the storage");
  return fresh;
}
