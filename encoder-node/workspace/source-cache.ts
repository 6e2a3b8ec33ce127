// Sources on disk: fetched once for all tasks of a job on this node, and kept for a while for later tasks.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RangedSource } from "#shared/protocol/scratch.ts";
import { untilAborted } from "../async/in-parallel.ts";
import { newResumeState, type ResumeState } from "../source/fetch/fetch-options.ts";
import type { TransferState } from "../source/fetch/slow-transfer.ts";
import { type DiskShare, SourceDisk } from "../source/fetch/source-disk.ts";

/** Receives the share of the source that has arrived, 0 to 1. */
type Listener = (fraction: number) => void;

/** Resources of a fetch: its state, and its share of the disk. */
export type FetchOptions = {
  readonly onProgress: Listener;
  readonly signal: AbortSignal;
  readonly resume: ResumeState;
  readonly disk: DiskShare;
};
export type FetchTo = (destination: string, options: FetchOptions) => Promise<unknown>;

export type AcquireOptions = {
  readonly signal: AbortSignal;
  readonly onProgress?: Listener;
  /** True if the caller leaves a transfer that can be resumed: `acquire` then rejects with TRANSFER_ABANDONED. */
  readonly abandonWhen?: ((transfer: TransferState) => boolean) | undefined;
};

/** `acquire` rejects with this error when its caller leaves the transfer; the received bytes are kept. */
export const TRANSFER_ABANDONED = new Error("The transfer of the source was left");

/** A source on disk. The holder must release it. */
export type HeldSource = {
  readonly path: string;
  /** The place where other nodes read the source by ranges, if known. */
  readonly origin?: RangedSource;
  release(): void;
};

type Entry = {
  readonly folder: string;
  readonly path: Promise<string>;
  isComplete: boolean;
  /** Start of the present transfer (`performance.now`). */
  readonly startedAt: number;
  users: number;
  readonly listeners: Set<Listener>;
  readonly resume: ResumeState;
  readonly disk: DiskShare;
  readonly abort: AbortController;
  expiry: NodeJS.Timeout | undefined;
};
/** The received part of a source whose tasks left. */
type PartialSource = Pick<Entry, "folder" | "resume" | "disk"> & { readonly expiry: NodeJS.Timeout };

/**
 * Unused sources are kept for this time, and so are received parts of sources that were left. The job's next task comes
 * within seconds, if it comes to this node.
 */
const KEEP_MS = 2 * 60_000;
/** A source is kept for as long as it took to arrive, up to this limit: its job may wait behind other jobs. */
const KEEP_SLOW_MS = 30 * 60_000;

export class SourceCache {
  readonly #folder: string;
  readonly #disk: SourceDisk;
  readonly #entries = new Map<string, Entry>();
  readonly #partial = new Map<string, PartialSource>();
  #fetches = 0;

  constructor(folder: string, disk = new SourceDisk()) {
    this.#folder = folder;
    this.#disk = disk;
  }

  /**
   * Returns the source that `key` names (a part of a file name), and fetches it if necessary. Concurrent callers share
   * a fetch. Rejects with the error of the fetch, or when `signal` aborts.
   */
  async acquire(key: string, fetchTo: FetchTo, options: AcquireOptions): Promise<HeldSource> {
    const { signal, onProgress = () => undefined, abandonWhen } = options;
    const entry = this.#entries.get(key) ?? this.#start(key, fetchTo);
    clearTimeout(entry.expiry);
    entry.users += 1;
    const leaving = new AbortController();
    const listener: Listener = (fraction) => {
      if (entry.resume.canResume && abandonWhen?.(transferOf(entry))) leaving.abort(TRANSFER_ABANDONED);
      else onProgress(fraction);
    };
    entry.listeners.add(listener);
    try {
      const path = await untilAborted(entry.path, AbortSignal.any([signal, leaving.signal]));
      return { path, release: () => this.#release(key, entry) };
    } catch (error) {
      this.#release(key, entry, error === TRANSFER_ABANDONED);
      throw error;
    } finally {
      entry.listeners.delete(listener);
    }
  }

  /** Removes all sources. */
  async clear(): Promise<void> {
    for (const { expiry } of this.#partial.values()) clearTimeout(expiry);
    await Promise.all([...this.#entries].map(([key, entry]) => this.#remove(key, entry)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #start(key: string, fetchTo: FetchTo): Entry {
    const abort = new AbortController();
    const partial = this.#partial.get(key);
    clearTimeout(partial?.expiry);
    this.#partial.delete(key);
    // A separate folder: an earlier fetch of the same source may still be in removal.
    const folder = partial?.folder ?? join(this.#folder, `${key}-${++this.#fetches}`);
    const [resume, disk] = [partial?.resume ?? newResumeState(), partial?.disk ?? this.#disk.open(this.#folder)];
    const listeners = new Set<Listener>();
    const fetch = async (): Promise<string> => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      abort.signal.throwIfAborted();
      // No extension: ffmpeg prefers the format of a name's extension, and `bin` is a format (binary text).
      const path = join(folder, "input");
      const onProgress = (fraction: number): void => {
        for (const listener of listeners) listener(fraction);
      };
      await fetchTo(path, { signal: abort.signal, onProgress, resume, disk });
      return path;
    };
    const entry: Entry = {
      folder,
      path: fetch(),
      isComplete: false,
      startedAt: performance.now(),
      users: 0,
      listeners,
      resume,
      disk,
      abort,
      expiry: undefined,
    };
    this.#entries.set(key, entry);
    entry.path.then(
      () => {
        entry.isComplete = true;
      },
      // A failed fetch is not kept: the next attempt starts at zero.
      async () => {
        if (abort.signal.reason !== TRANSFER_ABANDONED) await this.#remove(key, entry);
      },
    );
    return entry;
  }

  /** `isLeft`: keep the received part of an incomplete source. */
  #release(key: string, entry: Entry, isLeft = false): void {
    entry.users -= 1;
    if (entry.users > 0 || this.#entries.get(key) !== entry) return;
    if (isLeft && !entry.isComplete && entry.resume.canResume) return void this.#pause(key, entry);
    const keepMs = Math.min(Math.max(KEEP_MS, entry.resume.spentMs), KEEP_SLOW_MS);
    entry.expiry = setTimeout(() => void this.#remove(key, entry), entry.isComplete ? keepMs : 0);
    entry.expiry.unref();
  }

  /** Stops a transfer and keeps the received bytes. */
  async #pause(key: string, entry: Entry): Promise<void> {
    const { folder, resume, disk } = entry;
    this.#entries.delete(key);
    entry.abort.abort(TRANSFER_ABANDONED);
    await entry.path.catch(() => null);
    // The transfer has completed meanwhile, or was started again.
    if (entry.isComplete || this.#entries.has(key) || this.#partial.has(key)) return this.#discard(entry);
    const expiry = setTimeout(() => {
      this.#partial.delete(key);
      void this.#discard(entry);
    }, KEEP_MS);
    expiry.unref();
    this.#partial.set(key, { folder, resume, disk, expiry });
  }

  async #remove(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    clearTimeout(entry.expiry);
    entry.abort.abort();
    await entry.path.catch(() => null);
    await this.#discard(entry);
  }

  /** Files that cannot be removed are removed when the node starts again. */
  async #discard({ folder, disk }: Pick<Entry, "folder" | "disk">): Promise<void> {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    disk.close();
  }
}

const transferOf = ({ resume, startedAt }: Entry): TransferState => ({
  received: resume.received,
  totalBytes: resume.totalBytes,
  elapsedMs: resume.spentMs + performance.now() - startedAt,
});
