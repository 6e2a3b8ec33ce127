// One cache of blocks for all tasks that read one source here, kept a while for the tasks that follow.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type BlockCache, type BlockCacheOptions, openBlockCache } from "./block-cache.ts";
import { type RangeSource, rangeReader } from "./range-reader.ts";

/** A cache that is in use; whoever holds one gives it back, once. */
export type HeldCache = { readonly cache: BlockCache; release(): void };

export interface SharedBlockCaches {
  /**
   * The cache of a source; `key` names the version of it that is read, and `source` counts for the first who asks. Throws
   * AppError `node_failed`.
   */
  acquire(key: string, source: RangeSource): Promise<HeldCache>;
  /** Removes everything. */
  clear(): Promise<void>;
}

export type SharedOptions = Pick<BlockCacheOptions, "blockBytes" | "mostAtOnce"> & {
  /** How long a cache that nobody uses is kept: the job's next chunk comes within seconds, if it comes here. */
  readonly keepMs?: number | undefined;
};
const KEEP_MS = 2 * 60_000;

type Entry = { readonly cache: Promise<BlockCache>; users: number; expiry: NodeJS.Timeout | null };

/** The caches' files lie in `folder`. */
export function shareBlockCaches(
  folder: string,
  { keepMs = KEEP_MS, ...sizes }: SharedOptions = {},
): SharedBlockCaches {
  const entries = new Map<string, Entry>();
  let opened = 0;

  const start = (key: string, source: RangeSource): Entry => {
    // Of its own: an earlier cache of the same source may be about to be removed.
    const path = join(folder, `${++opened}.blocks`);
    const cache = openBlockCache({ path, source: rangeReader(source), ...sizes });
    const entry: Entry = { cache, users: 0, expiry: null };
    entries.set(key, entry);
    return entry;
  };

  const remove = async (key: string, entry: Entry): Promise<void> => {
    if (entries.get(key) === entry) entries.delete(key);
    if (entry.expiry) clearTimeout(entry.expiry);
    await entry.cache.then((cache) => cache.close()).catch(() => undefined);
  };

  const release = (key: string, entry: Entry): void => {
    entry.users -= 1;
    if (entry.users > 0 || entries.get(key) !== entry) return;
    entry.expiry = setTimeout(() => void remove(key, entry), keepMs);
    entry.expiry.unref();
  };

  return {
    async acquire(key, source) {
      const entry = entries.get(key) ?? start(key, source);
      if (entry.expiry) clearTimeout(entry.expiry);
      entry.users += 1;
      try {
        return { cache: await entry.cache, release: () => release(key, entry) };
      } catch (error) {
        await remove(key, entry);
        throw error;
      }
    },
    async clear() {
      await Promise.all([...entries].map(([key, entry]) => remove(key, entry)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
