// A source on disk: a file as long as the source, and the list of the ranges that have arrived.
import { AppError } from "#shared/errors.ts";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { Limiter, mapLimitedOrAbort, untilAborted } from "../../async/in-parallel.ts";
import { bytesIn, gapsIn } from "./byte-ranges.ts";
import { isWorthSplit, type TransferState, validForMs } from "./slow-transfer.ts";
import { changed } from "./source-failure.ts";
import { type FetchedSource, type OpenRange, SourceFetcher } from "./source-fetcher.ts";
import { BLOCK_BYTES, SourceReader } from "./source-reader.ts";
import type { Sink } from "./source-requests.ts";
import { SourceStore, type StoreOptions } from "./source-store.ts";
import { MAX_CONNECTIONS } from "./source-timeouts.ts";

export type SourceFileOptions = FetchedSource & StoreOptions & { readonly blockBytes?: number | undefined };

/** Receives the number of bytes that have arrived. `totalBytes` is null when the host does not send it. */
export type OnBytes = (receivedBytes: number, totalBytes: number | null) => void;

/** Large enough that the pause between two requests hardly matters. Small because readers wait for parts in flight. */
const PART_BYTES = 2 * 1024 * 1024;
/** Connections of browsers to a host. The others are for readers, who would wait too long for a free connection. */
const CONNECTIONS_FOR_ALL = 6;

const SPLIT = new Error("The host supports ranges");
const STOPPED = new Error("Nobody waits for the whole source");

/** A range that is being fetched. `failure` is set when the fetch has failed, but not when it was stopped. */
type Fetching = { readonly range: ByteRange; isOver: boolean; failure: unknown; done: Promise<void> };
type WholeRun = { readonly done: Promise<void>; readonly stop: AbortController; readonly listeners: Set<OnBytes> };

const isBounded = ({ end }: ByteRange): boolean => Number.isFinite(end);
const contains = ({ start, end }: ByteRange, position: number): boolean => start <= position && position <= end;

export class SourceFile {
  readonly path: string;
  readonly #store: SourceStore;
  readonly #blockBytes: number;
  readonly #fetcher: SourceFetcher;
  readonly #limiter = new Limiter(MAX_CONNECTIONS);
  readonly #closing = new AbortController();
  readonly #fetching = new Set<Fetching>();
  /** True if only one version can be read, and its host supports ranges. */
  readonly #isPinned: boolean;
  /** True if further requests may run beside others: the host has responded to a second one with the same version. */
  #isSplit: boolean;
  #hasAsked = false;
  /** True if the whole source needs several connections. */
  #isSlow: boolean;
  /** Users of bytes that must not be mixed with another version. */
  #holds = 0;
  #run: WholeRun | null = null;
  /** Called when bytes arrive over the only connection. */
  #watchRate = (): void => undefined;
  /** Resolves when bytes have arrived, or a fetch has ended. */
  #change = Promise.withResolvers<void>();

  private constructor(options: SourceFileOptions, store: SourceStore) {
    const { path, pieces, blockBytes = BLOCK_BYTES } = options;
    this.path = path;
    this.#store = store;
    this.#blockBytes = blockBytes;
    this.#fetcher = new SourceFetcher(options);
    this.#isPinned = pieces.every(({ sizeBytes }) => sizeBytes !== null);
    this.#isSplit = this.#isPinned;
    this.#isSlow = this.#isPinned;
  }

  /**
   * A source whose pieces have a size is read by ranges, in this version only. Any other source is read as a single
   * response until its host has responded to a second request. Throws AppError `node_failed` when the file cannot be
   * created.
   */
  static async open(options: SourceFileOptions): Promise<SourceFile> {
    const source = new SourceFile(options, await SourceStore.open(options));
    try {
      if (source.#isPinned) await source.#store.setLength(source.sizeBytes ?? 0);
      return source;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** Size of the source; null until the host sends it. */
  get sizeBytes(): number | null {
    return this.#fetcher.sizeBytes;
  }

  /** Identifies the version of a source with a single piece; null if it is unknown. */
  get validator(): string | null {
    return this.#fetcher.validator;
  }

  get isWhole(): boolean {
    return this.sizeBytes !== null && this.#store.bytes === this.sizeBytes;
  }

  /** True if readers need not wait for the whole source. */
  get hasRanges(): boolean {
    return this.#isSplit;
  }

  /** True if a later fetch can use the bytes that have arrived. */
  get canResume(): boolean {
    return this.#store.bytes > 0 && (this.#isSplit || this.#fetcher.canResume);
  }

  get transfer(): TransferState {
    const { sizeBytes: totalBytes, spentMs: elapsedMs } = this.#fetcher;
    return { received: this.#store.bytes, totalBytes, elapsedMs };
  }

  /** Time until the host refuses further requests. */
  get validForMs(): number {
    return validForMs(this.#fetcher.url, Date.now());
  }

  /**
   * Fetches all missing bytes and returns the size: over a single connection, or over several if that takes some
   * seconds and the host supports ranges. Concurrent callers share the work. When all callers have left, the fetch
   * stops, and its bytes stay. Throws AppError: `input_http_<status>`, `input_unreachable`, `input_timeout` (silent or
   * too slow), `input_too_large`, `input_address_not_allowed`, `node_failed` (the disk fails), `node_busy` (the disk is
   * too small). An abort rejects at once with the signal's reason.
   */
  async whole(signal: AbortSignal, onBytes: OnBytes = () => undefined): Promise<number> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    this.#run ??= this.#startRun();
    const run = this.#run;
    const listener: OnBytes = (...bytes) => onBytes(...bytes);
    run.listeners.add(listener);
    try {
      await untilAborted(run.done, signal);
      return this.sizeBytes ?? 0;
    } finally {
      run.listeners.delete(listener);
      if (run.listeners.size === 0) this.#stopRun(run);
    }
  }

  /**
   * Requests the first byte, unless that was answered before. True if the host supports ranges of the version that is
   * read. Throws AppError
   * as `whole` does.
   */
  async askForRanges(signal: AbortSignal): Promise<boolean> {
    if (this.#isSplit) return true;
    if (!(await this.#fetcher.askForRanges(AbortSignal.any([signal, this.#closing.signal])))) return false;
    await this.#store.setLength(this.sizeBytes ?? 0);
    this.#isSplit = true;
    return true;
  }

  /** Fetches the missing bytes of a range. Throws AppError as `whole` does. */
  async load(range: ByteRange, signal: AbortSignal): Promise<void> {
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    for (let at = range.start; at <= range.end; ) at = await this.#arrived(at, range, stopped);
  }

  reader(): SourceReader {
    const { signal } = this.#closing;
    return new SourceReader({
      blockBytes: this.#blockBytes,
      sizeBytes: () => this.sizeBytes,
      arrived: (position, range) => this.#arrived(position, range, signal),
      fetchAhead: (range) => this.#fetchAhead(range),
      read: (into, position) => {
        signal.throwIfAborted();
        return this.#store.read(into, position);
      },
    });
  }

  /** Keeps the version of the file until the returned function is called. */
  hold(): () => void {
    let isHeld = true;
    this.#holds += 1;
    return () => {
      if (isHeld) this.#holds -= 1;
      isHeld = false;
    };
  }

  /** Stops all fetches. Waiting callers fail. The file stays. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("cancelled", "The source is no longer read."));
    this.#changed();
    await Promise.allSettled([this.#run?.done, ...[...this.#fetching].map(({ done }) => done)]);
    await this.#fetcher.close();
    await this.#store.close();
  }

  #startRun(): WholeRun {
    const stop = new AbortController();
    const done = this.#fetchWhole(AbortSignal.any([stop.signal, this.#closing.signal]));
    const run: WholeRun = { done, stop, listeners: new Set() };
    // Callers get the error, but all may have left.
    void done.catch(() => undefined).finally(() => this.#stopRun(run));
    return run;
  }

  #stopRun(run: WholeRun): void {
    run.stop.abort(STOPPED);
    if (this.#run !== run) return;
    this.#run = null;
    this.#store.endReservation();
  }

  async #fetchWhole(signal: AbortSignal): Promise<void> {
    // The bytes of a run that was stopped may still be written.
    await this.#settled();
    signal.throwIfAborted();
    if (this.isWhole) return;
    if (!this.#isSlow && (await this.#fetchAlone(signal))) return;
    try {
      await this.#fetchParts(signal);
    } catch (error) {
      signal.throwIfAborted();
      // After an error of the host, a single connection may still reach it.
      if (this.#isPinned || !(error instanceof AppError) || !error.code.startsWith("input_")) throw error;
      this.#isSplit = false;
      this.#isSlow = false;
      await this.#fetchAlone(signal);
    }
  }

  /**
   * Fetches over one connection. Returns false if it was given up because it is slow, and the host has responded to a
   * second request beside it: some URLs allow a single request.
   */
  async #fetchAlone(signal: AbortSignal): Promise<boolean> {
    const start = this.#fetcher.canResume ? this.#store.endOfRun(0) : 0;
    const split = new AbortController();
    const ask = async (): Promise<void> => {
      if (await this.askForRanges(AbortSignal.any([signal, split.signal])).catch(() => false)) split.abort(SPLIT);
    };
    this.#watchRate = () => {
      if (this.#hasAsked || !this.#fetcher.canResume || !isWorthSplit(this.transfer, this.validForMs)) return;
      this.#hasAsked = true;
      void ask();
    };
    try {
      await this.#fetch({ start, end: null }, AbortSignal.any([signal, split.signal]));
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (error !== SPLIT) throw error;
      this.#isSlow = true;
      return false;
    } finally {
      split.abort();
      this.#watchRate = () => undefined;
    }
  }

  /** Fetches all missing bytes over several connections, from the front. */
  async #fetchParts(signal: AbortSignal): Promise<void> {
    const workers = Array.from({ length: CONNECTIONS_FOR_ALL }, (_, at) => at);
    while (!this.isWhole) {
      await mapLimitedOrAbort(workers, workers.length, signal, async (_worker, _at, stopped) => {
        for (let part = this.#nextPart(); part; part = this.#nextPart()) await this.#fetch(part, stopped);
      });
      // Readers fetch the rest.
      await this.#settled();
      signal.throwIfAborted();
    }
  }

  #nextPart(): ByteRange | null {
    const [gap] = gapsIn(this.#taken(), { start: 0, end: (this.sizeBytes ?? 0) - 1 });
    return gap ? { ...gap, end: Math.min(gap.end, gap.start + PART_BYTES - 1) } : null;
  }

  /** Ranges that need no fetch, apart from the rest of the source that arrives over a single connection. */
  #taken(): ByteRange[] {
    return [...this.#store.ranges, ...[...this.#fetching].map(({ range }) => range).filter(isBounded)];
  }

  /** Resolves when all present fetches have ended, in any way. */
  async #settled(): Promise<void> {
    await Promise.allSettled([...this.#fetching].map(({ done }) => done));
  }

  /** Waits for the byte at `position`, and fetches its part of `range` if necessary. Returns the end of its run. */
  async #arrived(position: number, range: ByteRange, signal: AbortSignal): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const end = this.#store.endOfRun(position);
      if (end > position) return end;
      if (this.sizeBytes !== null && position >= this.sizeBytes) throw changed(new URL(this.#fetcher.url).host);
      const fetching = [...this.#fetching].find(
        ({ range }) => contains(range, position) && (isBounded(range) || !this.#isSplit),
      );
      if (fetching) {
        await untilAborted(this.#change.promise, signal);
        if (fetching.isOver && fetching.failure && this.#store.endOfRun(position) === position) throw fetching.failure;
      } else if (this.#isSplit && this.sizeBytes !== null) {
        const gap = gapsIn(this.#taken(), range).find((part) => contains(part, position));
        await this.#fetch(gap ?? { start: position, end: position }, signal);
      } else {
        // A host without ranges.
        await this.whole(signal);
      }
    }
  }

  /** Fetches a range ahead, but only if this delays no range that a reader waits for. */
  #fetchAhead(range: ByteRange): void {
    if (!this.#isSplit || range.start > range.end) return;
    const [gap] = gapsIn(this.#taken(), range);
    if (gap && this.#limiter.isFree) void this.#fetch(gap, this.#closing.signal).catch(() => undefined);
  }

  #fetch(range: OpenRange, signal: AbortSignal): Promise<void> {
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    const work = this.#limiter.run(() => this.#fetcher.fetch(range, this.#sink(), stopped));
    const end = range.end ?? Number.POSITIVE_INFINITY;
    const fetching: Fetching = { range: { start: range.start, end }, isOver: false, failure: null, done: work };
    this.#fetching.add(fetching);
    const onEnd = (failure: unknown): void => {
      Object.assign(fetching, { isOver: true, failure });
      this.#fetching.delete(fetching);
      if (!this.#run && this.#fetching.size === 0) this.#store.endReservation();
      this.#changed();
    };
    fetching.done = work.then(
      () => onEnd(null),
      (error: unknown) => {
        onEnd(stopped.aborted ? null : error);
        throw error;
      },
    );
    return fetching.done;
  }

  #sink(): Sink {
    return {
      begin: async () => {
        this.#store.checkSize(this.#run ? (this.sizeBytes ?? 0) : 0);
        await this.#store.reserve(this.#missingBytes());
        this.#report();
      },
      write: async (bytes, position) => {
        await this.#store.write(bytes, position, () => this.#missingBytes());
        this.#changed();
        this.#report();
      },
      ...(this.#isPinned ? {} : { restart: (): Promise<void> => this.#restart() }),
    };
  }

  async #restart(): Promise<void> {
    if (this.#holds > 0 && this.#store.bytes > 0) throw changed(new URL(this.#fetcher.url).host);
    await this.#store.clear();
  }

  /** Bytes that are still to come, as far as is known. */
  #missingBytes(): number {
    if (this.#run) return Math.max(0, (this.sizeBytes ?? 0) - this.#store.bytes);
    return bytesIn([...this.#fetching].map(({ range }) => range).filter(isBounded));
  }

  #report(): void {
    this.#watchRate();
    for (const listener of this.#run?.listeners ?? []) listener(this.#store.bytes, this.sizeBytes);
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
