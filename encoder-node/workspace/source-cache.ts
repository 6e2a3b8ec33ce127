// Sources on disk: one file for all tasks of this node that read the source, kept for a while for later tasks.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { RangedSource } from "#shared/protocol/scratch.ts";
import { type DiskShare, diskFailure, SourceDisk } from "../source/fetch/source-disk.ts";
import { SourceFile } from "../source/fetch/source-file.ts";
import type { LocatedPiece } from "../source/fetch/source-requests.ts";

/** Returns the pieces of a source with valid URLs. */
export type LocateSource = () => Promise<readonly LocatedPiece[]>;

export type OpenOptions = {
  /** Called again when the URLs have expired, until the source is released. */
  readonly locate: LocateSource;
  /** The policy for these URLs. */
  readonly allow: AllowPrivate;
  readonly maxBytes: number;
};

export type AcquireOptions = {
  readonly signal: AbortSignal;
  /** Receives the share of the source that has arrived, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
  /** True if the caller starts its work while the rest of the source arrives. */
  readonly startsEarly?: ((file: SourceFile) => boolean) | undefined;
};

/** The file of a source in use. The holder must release it. After `discard`, the next caller gets another file. */
export type HeldFile = { readonly file: SourceFile; release(): void; discard(): void };

/** A source on disk. The holder must release it. */
export type HeldSource = {
  readonly path: string;
  /** The place where other nodes read the source by ranges, if known. */
  readonly origin?: RangedSource;
  /** The file of a source whose rest still arrives, until it is released. */
  readonly arriving?: SourceFile;
  /** Further calls have no effect. */
  release(): void;
};

type Entry = {
  readonly folder: string;
  readonly disk: DiskShare;
  readonly file: Promise<SourceFile>;
  /**
   * Places of the leases that may request URLs now, the latest last. The file outlives a lease, and an ended lease
   * cannot request URLs.
   */
  readonly locators: Set<LocateSource>;
  users: number;
  expiry: NodeJS.Timeout | undefined;
};

/** Lifetime of an unused source. The job's next task comes within seconds, if it comes to this node. */
const KEEP_MS = 2 * 60_000;
/** A whole source is kept for as long as it took to arrive, up to this limit: its job may wait behind other jobs. */
const KEEP_SLOW_MS = 30 * 60_000;

const RELEASED = new Error("The source was released");

export class SourceCache {
  readonly #folder: string;
  readonly #disk: SourceDisk;
  readonly #keepMs: number;
  readonly #entries = new Map<string, Entry>();
  #opened = 0;

  constructor(folder: string, { disk = new SourceDisk(), keepMs = KEEP_MS } = {}) {
    this.#folder = folder;
    this.#disk = disk;
    this.#keepMs = keepMs;
  }

  /**
   * Returns the file of a source, and creates it if necessary. `key` names the source. Rejects with the error of
   * `locate`, and with AppError `node_failed`.
   */
  async open(key: string, options: OpenOptions): Promise<HeldFile> {
    const entry = this.#entries.get(key) ?? this.#create(key, options);
    clearTimeout(entry.expiry);
    entry.users += 1;
    // A lease may use the source twice.
    const locate: LocateSource = () => options.locate();
    entry.locators.add(locate);
    const release = once(() => {
      entry.users -= 1;
      entry.locators.delete(locate);
      void this.#expire(key, entry);
    });
    const discard = (): void => {
      this.#forget(key, entry);
      release();
    };
    try {
      return { file: await entry.file, release, discard };
    } catch (error) {
      discard();
      throw error;
    }
  }

  /**
   * Returns a source that has arrived, or that its caller may read early. Fetches it if necessary. Rejects as
   * `SourceFile.whole` does; the next caller then starts again.
   */
  async acquire(
    key: string,
    options: OpenOptions,
    { signal, onProgress = () => undefined, startsEarly = () => false }: AcquireOptions,
  ): Promise<HeldSource> {
    const { file, release, discard } = await this.open(key, options);
    const leaving = new AbortController();
    const early = Promise.withResolvers<"early">();
    let isEarly = false;
    const onBytes = (received: number, totalBytes: number | null): void => {
      isEarly ||= startsEarly(file);
      if (isEarly) early.resolve("early");
      else onProgress(totalBytes ? received / totalBytes : 0);
    };
    const whole = file.whole(AbortSignal.any([signal, leaving.signal]), onBytes);
    const leave = (): void => {
      leaving.abort(RELEASED);
      release();
    };
    try {
      // After an early start, readers meet a failure of the rest.
      const arrival = await Promise.race([whole, early.promise]);
      return { path: file.path, release: leave, ...(arrival === "early" ? { arriving: file } : {}) };
    } catch (error) {
      if (signal.aborted) release();
      else discard();
      throw error;
    }
  }

  /** Removes all sources. */
  async clear(): Promise<void> {
    await Promise.all([...this.#entries].map(([key, entry]) => this.#remove(key, entry)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #create(key: string, { locate, allow, maxBytes }: OpenOptions): Entry {
    // A folder of its own: an earlier file of the same source may still be in removal.
    const folder = join(this.#folder, String(++this.#opened));
    const disk = this.#disk.open(this.#folder);
    const locators = new Set<LocateSource>();
    const open = async (): Promise<SourceFile> => {
      const pieces = await locate();
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(diskFailure);
      const refresh = (): Promise<readonly LocatedPiece[]> => firstResult([...locators].reverse());
      // No extension: ffmpeg prefers the format of a name's extension, and `bin` is a format (binary text).
      return SourceFile.open({ path: join(folder, "input"), pieces, refresh, allow, maxBytes, disk });
    };
    const entry: Entry = { folder, disk, file: open(), locators, users: 0, expiry: undefined };
    this.#entries.set(key, entry);
    return entry;
  }

  /** The next caller gets another file. Present users keep theirs. */
  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  async #expire(key: string, entry: Entry): Promise<void> {
    const file = await entry.file.catch(() => null);
    if (entry.users > 0) return;
    const isCurrent = this.#entries.get(key) === entry;
    const keepMs = file?.isWhole
      ? Math.min(Math.max(this.#keepMs, file.transfer.elapsedMs), KEEP_SLOW_MS)
      : this.#keepMs;
    if (!isCurrent || !(file?.isWhole || file?.canResume)) return this.#remove(key, entry);
    clearTimeout(entry.expiry);
    entry.expiry = setTimeout(() => void this.#remove(key, entry), keepMs);
    entry.expiry.unref();
  }

  /** Files that cannot be removed are removed when the node starts again. */
  async #remove(key: string, entry: Entry): Promise<void> {
    this.#forget(key, entry);
    clearTimeout(entry.expiry);
    await entry.file.then((file) => file.close()).catch(() => undefined);
    await rm(entry.folder, { recursive: true, force: true }).catch(() => undefined);
    entry.disk.close();
  }
}

async function firstResult(locators: Iterable<LocateSource>): Promise<readonly LocatedPiece[]> {
  let failure: unknown = new AppError("node_failed", "No lease reads the source any more");
  for (const locate of locators) {
    try {
      return await locate();
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
