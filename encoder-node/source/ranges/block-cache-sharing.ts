// Shares a block cache among all tasks of this node that read a source, and keeps it for a while for later tasks.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { BlockCache, type BlockCacheOptions } from "./block-cache.ts";
import { HttpRangeReader, type RangeSource } from "./range-reader.ts";

/** A cache in use. The holder must release it, once. */
export type HeldCache = { readonly cache: BlockCache; release(): void };

export type SharedOptions = Pick<BlockCacheOptions, "blockBytes" | "parallel"> & {
  /** Lifetime of an unused cache: the job's next chunk comes within seconds, if it comes to this node. */
  readonly keepMs?: number | undefined;
};
const KEEP_MS = 2 * 60_000;

type Entry = { readonly cache: Promise<BlockCache>; users: number; expiry: NodeJS.Timeout | undefined };

export class SharedBlockCaches {
  readonly #folder: string;
  readonly #keepMs: number;
  readonly #sizes: Pick<BlockCacheOptions, "blockBytes" | "parallel">;
  readonly #entries = new Map<string, Entry>();
  #opened = 0;

  /** `folder` is for the files of the caches. */
  constructor(folder: string, { keepMs = KEEP_MS, ...sizes }: SharedOptions = {}) {
    this.#folder = folder;
    this.#keepMs = keepMs;
    this.#sizes = sizes;
  }

  /**
   * Returns the cache of a source. `key` identifies the version that is read; `source` is used only when there is no
   * cache yet. Throws AppError `node_failed`.
   */
  async acquire(key: string, source: RangeSource): Promise<HeldCache> {
    const entry = this.#entries.get(key) ?? this.#open(key, source);
    clearTimeout(entry.expiry);
    entry.users += 1;
    try {
      return { cache: await entry.cache, release: () => this.#release(key, entry) };
    } catch (error) {
      await this.#remove(key, entry);
      throw error;
    }
  }

  /** Removes all caches. */
  async clear(): Promise<void> {
    await Promise.all([...this.#entries].map(([key, entry]) => this.#remove(key, entry)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #open(key: string, source: RangeSource): Entry {
    // A file of its own: an earlier cache of the same source may still be removed.
    const path = join(this.#folder, `${++this.#opened}.blocks`);
    const cache = BlockCache.open({ path, source: new HttpRangeReader(source), ...this.#sizes });
    const entry: Entry = { cache, users: 0, expiry: undefined };
    this.#entries.set(key, entry);
    return entry;
  }

  #release(key: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || this.#entries.get(key) !== entry) return;
    entry.expiry = setTimeout(() => void this.#remove(key, entry), this.#keepMs);
    entry.expiry.unref();
  }

  async #remove(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    clearTimeout(entry.expiry);
    await entry.cache.then((cache) => cache.close()).catch(() => undefined);
  }
}
