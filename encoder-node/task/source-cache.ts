// Sources on disk: fetched once for all tasks of a job that run here, kept a while for the tasks that follow.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { untilAborted } from "../async/until-aborted.ts";
import { noPart, type SourcePart } from "../source/fetch/fetch-source.ts";
import { type DiskShare, SourceDisk } from "../source/fetch/source-disk.ts";

type OnFetched = (fraction: number) => void;
export type FetchTo = (
  destination: string,
  signal: AbortSignal,
  onFetched: OnFetched,
  own: OwnFetch,
) => Promise<unknown>;
/** What a source has of its own: what has come of it, its share of the disk, and whom to tell that it comes slowly. */
export type OwnFetch = { readonly part: SourcePart; readonly disk: DiskShare; onSlow(): void };

/** With this reason a signal says that others have their turn: what has come of a source is kept for the next one. */
export const TURN_OVER = "turn over";

/** A source on disk; whoever holds one gives it back. */
export type HeldSource = { readonly path: string; release(): void };

export interface SourceCache {
  /**
   * The source that `key` names, fetched if need be; the key is a part of a file's name. Rejects with the fetch's error, or when `signal` aborts. All who wait for one
   * fetch are told how far it is.
   */
  acquire(
    key: string,
    fetchTo: FetchTo,
    signal: AbortSignal,
    onFetched?: OnFetched,
    onSlow?: () => void,
  ): Promise<HeldSource>;
  /** Removes everything. */
  clear(): Promise<void>;
}

type Waiting = { readonly onFetched: OnFetched; readonly onSlow: () => void };
/** What is left of a transfer whose turn was over. */
type Kept = Pick<Entry, "folder" | "part" | "disk"> & { readonly expiry: NodeJS.Timeout };
type Entry = {
  folder: string;
  path: Promise<string>;
  here: boolean;
  users: number;
  waiting: Set<Waiting>;
  part: SourcePart;
  disk: DiskShare;
  abort: AbortController;
  expiry: NodeJS.Timeout | null;
};

/** How long a source that nobody uses is kept: the job's next task comes within seconds, if it comes here. */
const KEEP_MS = 2 * 60_000;

/** How long a part of a source waits for its next turn; others come to theirs within the hour that a source may be slow. */
const KEEP_PART_MS = 30 * 60_000;

export function createSourceCache(folder: string, disk = new SourceDisk()): SourceCache {
  const entries = new Map<string, Entry>();
  const kept = new Map<string, Kept>();
  let fetches = 0;

  const remove = async (key: string, entry: Entry): Promise<void> => {
    if (entries.get(key) === entry) entries.delete(key);
    if (entry.expiry) clearTimeout(entry.expiry);
    entry.abort.abort();
    await entry.path.catch(() => null);
    // Nobody waits for this; what cannot be removed goes at the node's next start.
    await drop(entry);
  };

  const drop = async (gone: Pick<Entry, "folder" | "disk">): Promise<void> => {
    await rm(gone.folder, { recursive: true, force: true }).catch(() => undefined);
    gone.disk.close();
  };

  /** Stops a transfer and keeps what has come. */
  const pause = async (key: string, entry: Entry): Promise<void> => {
    const { folder: own, part, disk: share } = entry;
    entries.delete(key);
    entry.abort.abort(TURN_OVER);
    await entry.path.catch(() => null);
    // It was complete in that moment, or begun anew meanwhile.
    if (entry.here || entries.has(key) || kept.has(key)) return drop(entry);
    const expiry = setTimeout(() => {
      kept.delete(key);
      void drop(entry);
    }, KEEP_PART_MS);
    expiry.unref();
    kept.set(key, { folder: own, part, disk: share, expiry });
  };

  const start = (key: string, fetchTo: FetchTo): Entry => {
    const abort = new AbortController();
    // Of its own: an earlier fetch of the same source may be about to be removed.
    const left = kept.get(key);
    if (left) clearTimeout(left.expiry);
    kept.delete(key);
    const own = left?.folder ?? join(folder, `${key}-${++fetches}`);
    const [part, share] = [left?.part ?? noPart(), left?.disk ?? disk.open(folder)];
    const waiting = new Set<Waiting>();
    const fetched = async (): Promise<string> => {
      await mkdir(own, { recursive: true, mode: 0o700 });
      abort.signal.throwIfAborted();
      // Without an extension: ffmpeg prefers the format whose extension the name has, and `bin` is one (binary text).
      const path = join(own, "input");
      const onFetched = (fraction: number): void => {
        for (const tell of waiting) tell.onFetched(fraction);
      };
      const onSlow = (): void => {
        for (const tell of waiting) tell.onSlow();
      };
      await fetchTo(path, abort.signal, onFetched, { part, disk: share, onSlow });
      return path;
    };
    const here = { here: false, users: 0, expiry: null };
    const entry: Entry = { ...here, folder: own, path: fetched(), waiting, part, disk: share, abort };
    entries.set(key, entry);
    entry.path.then(
      () => {
        entry.here = true;
      },
      // A failed fetch is not kept: the next attempt begins anew.
      async () => {
        if (abort.signal.reason !== TURN_OVER) await remove(key, entry);
      },
    );
    return entry;
  };

  const release = (key: string, entry: Entry, isTurnOver = false): void => {
    entry.users -= 1;
    if (entry.users > 0 || entries.get(key) !== entry) return;
    if (isTurnOver && !entry.here && entry.part.canResume) return void pause(key, entry);
    entry.expiry = setTimeout(() => void remove(key, entry), entry.here ? KEEP_MS : 0);
    entry.expiry.unref();
  };

  return {
    async acquire(key, fetchTo, signal, onFetched = () => undefined, onSlow = () => undefined) {
      const entry = entries.get(key) ?? start(key, fetchTo);
      if (entry.expiry) clearTimeout(entry.expiry);
      entry.users += 1;
      const waiting = { onFetched, onSlow };
      entry.waiting.add(waiting);
      try {
        return { path: await untilAborted(entry.path, signal), release: () => release(key, entry) };
      } catch (error) {
        release(key, entry, signal.reason === TURN_OVER);
        throw error;
      } finally {
        entry.waiting.delete(waiting);
      }
    },
    async clear() {
      for (const { expiry } of kept.values()) clearTimeout(expiry);
      await Promise.all([...entries].map(([key, entry]) => remove(key, entry)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
