// Fetches the rest of a file over several connections, in parts, from the front.
import type { AppError } from "#shared/errors.ts";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { type Connections, withFailure, withRate } from "./connection-count.ts";
import type { RangeReader, WriteBytes } from "./range-reader.ts";

export type Rest = {
  /** The first byte that is missing, and the size of the file. */
  readonly from: number;
  readonly sizeBytes: number;
  readonly reader: Pick<RangeReader, "read">;
  readonly write: WriteBytes;
  readonly signal: AbortSignal;
  readonly connections: Connections;
  /** Called when all bytes before this position are there. */
  readonly onPrefix: (endBytes: number) => void;
};

/** Large enough that the pause between two requests hardly matters, small enough that little is ahead of the prefix. */
const PART_BYTES = 8 * 1024 * 1024;
/** Duration of the trial of each number of connections; the first part is the start of the connections. */
const WINDOW_MS = 2000;
const START_MS = 700;

/** The fetch of the rest of a file. Call `failed` for each connection that the host refuses or breaks. */
export class RestOfFile {
  readonly #rest: Rest;
  readonly #stop = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  /** Ends of finished parts by their start. */
  readonly #finished = new Map<number, number>();
  /** The first failure; the others follow from it. */
  #failure: { readonly error: unknown } | null = null;
  #connections: Connections;
  #next: number;
  #prefix: number;
  #received = 0;

  constructor(rest: Rest) {
    this.#rest = rest;
    this.#connections = rest.connections;
    this.#next = rest.from;
    this.#prefix = rest.from;
  }

  failed(_failure: AppError): void {
    this.#connections = withFailure(this.#connections);
  }

  /**
   * Resolves when the file is complete, or when a single connection is as good as several. Some bytes at the end of the
   * file are missing then. Rejects with the first error of a connection or of `write`, or with the signal's reason,
   * when all connections have stopped.
   */
  async run(): Promise<void> {
    const windows = this.#watchRate();
    try {
      this.#fill();
      while (this.#workers.size > 0) await Promise.race(this.#workers);
    } finally {
      clearTimeout(windows.timer);
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Starts connections up to their number. */
  #fill(): void {
    while (this.#mayStart()) {
      const worker = this.#work()
        .catch((error: unknown) => {
          this.#failure ??= { error };
          this.#stop.abort();
        })
        .finally(() => this.#workers.delete(worker));
      this.#workers.add(worker);
    }
  }

  #mayStart(): boolean {
    const { count } = this.#connections;
    return !this.#stop.signal.aborted && count > 1 && this.#workers.size < count && this.#next < this.#rest.sizeBytes;
  }

  /** Fetches parts over a connection, until there are none, or too many connections. */
  async #work(): Promise<void> {
    const { reader, sizeBytes, signal } = this.#rest;
    const stopped = AbortSignal.any([signal, this.#stop.signal]);
    // The caller continues with a single connection, without pauses between parts.
    while (this.#next < sizeBytes && this.#connections.count > 1 && this.#workers.size <= this.#connections.count) {
      const range: ByteRange = { start: this.#next, end: Math.min(this.#next + PART_BYTES, sizeBytes) - 1 };
      this.#next = range.end + 1;
      await reader.read(range, (bytes, position) => this.#write(bytes, position), stopped);
      this.#finish(range);
    }
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    await this.#rest.write(bytes, position);
    this.#received += bytes.length;
  }

  #finish({ start, end }: ByteRange): void {
    this.#finished.set(start, end + 1);
    for (let after = this.#finished.get(this.#prefix); after !== undefined; after = this.#finished.get(this.#prefix)) {
      this.#finished.delete(this.#prefix);
      this.#prefix = after;
    }
    this.#rest.onPrefix(this.#prefix);
  }

  /** Measures the rate of each number of connections, and changes the number. */
  #watchRate(): { timer: NodeJS.Timeout | undefined } {
    const watch: { timer: NodeJS.Timeout | undefined } = { timer: undefined };
    const begin = (): void => {
      watch.timer = setTimeout(() => {
        const [received, since] = [this.#received, performance.now()];
        watch.timer = setTimeout(() => {
          const rate = ((this.#received - received) * 1000) / (performance.now() - since);
          this.#connections = withRate(this.#connections, rate);
          this.#fill();
          begin();
        }, WINDOW_MS - START_MS);
      }, START_MS);
    };
    begin();
    return watch;
  }
}
