// One cache of blocks for all tasks of a job that run here, kept a while for the tasks that follow.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type BlockCache, type BlockCacheOptions, openBlockCache } from "./block-cache.ts";
import { type RangeSource, rangeReader } from "./range-source.ts";

/** A cache that is in use; whoever holds one gives it back, once. */
export type HeldCache = { readonly cache: BlockCache; release(): void };

export interface SharedBlockCaches {
  /** The cache of a job's source; `source` counts for the first who asks. Throws AppError `node_failed`. */
  acquire(jobId: string, source: RangeSource): Promise<HeldCache>;
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

  const start = (jobId: string, source: RangeSource): Entry => {
    // Of its own: an earlier cache of the same source may be about to be removed.
    const path = join(folder, `${jobId}-${++opened}.blocks`);
    const cache = openBlockCache({ path, source: rangeReader(source), ...sizes });
    const entry: Entry = { cache, users: 0, expiry: null };
    entries.set(jobId, entry);
    return entry;
  };

  const remove = async (jobId: string, entry: Entry): Promise<void> => {
    if (entries.get(jobId) === entry) entries.delete(jobId);
    if (entry.expiry) clearTimeout(entry.expiry);
    await entry.cache.then((cache) => cache.close()).catch(() => undefined);
  };

  const release = (jobId: string, entry: Entry): void => {
    entry.users -= 1;
    if (entry.users > 0 || entries.get(jobId) !== entry) return;
    entry.expiry = setTimeout(() => void remove(jobId, entry), keepMs);
    entry.expiry.unref();
  };

  return {
    async acquire(jobId, source) {
      const entry = entries.get(jobId) ?? start(jobId, source);
      if (entry.expiry) clearTimeout(entry.expiry);
      entry.users += 1;
      try {
        return { cache: await entry.cache, release: () => release(jobId, entry) };
      } catch (error) {
        await remove(jobId, entry);
        throw error;
      }
    },
    async clear() {
      await Promise.all([...entries].map(([jobId, entry]) => remove(jobId, entry)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
