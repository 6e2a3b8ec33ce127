// Sources on disk: fetched once for all tasks of a job that run here, kept a while for the tasks that follow.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { untilAborted } from "./until-aborted.ts";

type OnFetched = (fraction: number) => void;
export type FetchTo = (destination: string, signal: AbortSignal, onFetched: OnFetched) => Promise<unknown>;

/** A source on disk; whoever holds one gives it back. */
export type HeldSource = { readonly path: string; release(): void };

export interface SourceCache {
  /**
   * The source that `key` names, fetched if need be; the key is a part of a file's name. Rejects with the fetch's error, or when `signal` aborts. All who wait for one
   * fetch are told how far it is.
   */
  acquire(key: string, fetchTo: FetchTo, signal: AbortSignal, onFetched?: OnFetched): Promise<HeldSource>;
  /** Removes everything. */
  clear(): Promise<void>;
}

type Entry = {
  folder: string;
  path: Promise<string>;
  here: boolean;
  users: number;
  waiting: Set<OnFetched>;
  abort: AbortController;
  expiry: NodeJS.Timeout | null;
};

/** How long a source that nobody uses is kept: the job's next task comes within seconds, if it comes here. */
const KEEP_MS = 2 * 60_000;

export function createSourceCache(folder: string): SourceCache {
  const entries = new Map<string, Entry>();
  let fetches = 0;

  const remove = async (key: string, entry: Entry): Promise<void> => {
    if (entries.get(key) === entry) entries.delete(key);
    if (entry.expiry) clearTimeout(entry.expiry);
    entry.abort.abort();
    await entry.path.catch(() => null);
    // Nobody waits for this; what cannot be removed goes at the node's next start.
    await rm(entry.folder, { recursive: true, force: true }).catch(() => undefined);
  };

  const start = (key: string, fetchTo: FetchTo): Entry => {
    const abort = new AbortController();
    // Of its own: an earlier fetch of the same source may be about to be removed.
    const own = join(folder, `${key}-${++fetches}`);
    const waiting = new Set<OnFetched>();
    const fetched = async (): Promise<string> => {
      await mkdir(own, { recursive: true, mode: 0o700 });
      abort.signal.throwIfAborted();
      // Without an extension: ffmpeg prefers the format whose extension the name has, and `bin` is one (binary text).
      const path = join(own, "input");
      await fetchTo(path, abort.signal, (fraction) => {
        for (const tell of waiting) tell(fraction);
      });
      return path;
    };
    const entry: Entry = { folder: own, path: fetched(), here: false, users: 0, waiting, abort, expiry: null };
    entries.set(key, entry);
    entry.path.then(
      () => {
        entry.here = true;
      },
      // A failed fetch is not kept: the next attempt begins anew.
      () => remove(key, entry),
    );
    return entry;
  };

  const release = (key: string, entry: Entry): void => {
    entry.users -= 1;
    if (entry.users > 0 || entries.get(key) !== entry) return;
    entry.expiry = setTimeout(() => void remove(key, entry), entry.here ? KEEP_MS : 0);
    entry.expiry.unref();
  };

  return {
    async acquire(key, fetchTo, signal, onFetched = () => undefined) {
      const entry = entries.get(key) ?? start(key, fetchTo);
      if (entry.expiry) clearTimeout(entry.expiry);
      entry.users += 1;
      entry.waiting.add(onFetched);
      try {
        return { path: await untilAborted(entry.path, signal), release: () => release(key, entry) };
      } catch (error) {
        release(key, entry);
        throw error;
      } finally {
        entry.waiting.delete(onFetched);
      }
    },
    async clear() {
      await Promise.all([...entries].map(([key, entry]) => remove(key, entry)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
