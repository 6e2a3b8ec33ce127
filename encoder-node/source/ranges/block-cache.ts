// A source on disk, as far as it has been read: blocks are fetched when somebody wants them, and no block twice.
import { mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { ByteRange } from "#shared/network/byte-range.ts";
import { checkRoom, diskFailure, type Room, writeAt } from "../fetch/source-disk.ts";
import type { RangeReader } from "./range-reader.ts";

export type BlockCacheOptions = {
  /** A file to make, with its folder; it is as long as the source, and takes as much of the disk as has been read. */
  readonly path: string;
  /** Is closed with the cache. */
  readonly source: RangeReader;
  readonly blockBytes?: number | undefined;
  /** Blocks fetched at the same time, for all who read. */
  readonly mostAtOnce?: number | undefined;
  /** For tests; else what the disk has free, less a reserve. */
  readonly room?: Room | undefined;
};

export interface BlockCache {
  readonly sizeBytes: number;
  /** What has been fetched so far. */
  readonly fetchedBytes: number;
  /** One who reads on from some place; blocks ahead are fetched as soon as that has gone on for a while. */
  reader(): BlockReader;
  /** Ends what is being fetched, and removes the file. Readers that wait are refused. */
  close(): Promise<void>;
}

export interface BlockReader {
  /**
   * Fills `into` from `position` on, at most to the end of a block, and answers how many bytes that are; 0 at the end.
   * Throws AppError as `RangeReader.read` does, and `node_failed` for trouble with the disk.
   */
  read(into: Buffer, position: number): Promise<number>;
}

/** A seek in MPEG-TS looks at some 20 places, and each costs a block. */
const BLOCK_BYTES = 1024 * 1024;
const MOST_AT_ONCE = 6;
/**
 * Blocks ahead at most, and how many must have been read in a row for each: what lies behind the end of a chunk, or of the
 * file's head, is fetched for nothing. Four in flight are 4 MB for each round trip, and encoders take less than that in a second.
 */
const MOST_AHEAD = 3;
const READ_FOR_EACH = 2;

export async function openBlockCache(options: BlockCacheOptions): Promise<BlockCache> {
  const { path, source, blockBytes = BLOCK_BYTES, mostAtOnce = MOST_AT_ONCE } = options;
  const { sizeBytes } = source;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(diskFailure);
  const file = await open(path, "wx+", 0o600).catch(diskFailure);
  try {
    await file.truncate(sizeBytes);
  } catch (error) {
    await file.close();
    diskFailure(error);
  }
  const blocks = Math.ceil(sizeBytes / blockBytes);
  const present = new Uint8Array(blocks);
  const underway = new Map<number, Promise<void>>();
  const closing = new AbortController();
  const slots = slotsFor(mostAtOnce);
  let fetchedBytes = 0;

  const fetch = async (block: number): Promise<void> => {
    const start = block * blockBytes;
    const range: ByteRange = { start, end: Math.min(start + blockBytes, sizeBytes) - 1 };
    const take = async (bytes: Buffer, position: number): Promise<void> => {
      fetchedBytes += bytes.length;
      await writeAt(file, bytes, position);
    };
    await slots.run(async () => {
      await checkRoom(dirname(path), range.end + 1 - start, options.room);
      await source.read(range, take, closing.signal);
    });
    present[block] = 1;
  };

  const have = (block: number): Promise<void> => {
    const started = underway.get(block);
    if (started) return started;
    const fetching = fetch(block).finally(() => underway.delete(block));
    // Whoever waits gets the error; nobody may.
    fetching.catch(() => undefined);
    underway.set(block, fetching);
    return fetching;
  };

  /** Only when nothing that somebody waits for has to stand back. */
  const fetchAhead = (block: number): void => {
    if (block < blocks && !present[block] && slots.free() && !closing.signal.aborted) void have(block);
  };

  return {
    sizeBytes,
    get fetchedBytes() {
      return fetchedBytes;
    },
    reader() {
      let current = -1;
      let inRow = 0;
      return {
        async read(into, position) {
          closing.signal.throwIfAborted();
          if (position >= sizeBytes) return 0;
          const block = Math.floor(position / blockBytes);
          if (block !== current) {
            inRow = block === current + 1 && current >= 0 ? inRow + 1 : 0;
            current = block;
          }
          const here = present[block] ? null : have(block);
          const ahead = Math.min(Math.floor(inRow / READ_FOR_EACH), MOST_AHEAD);
          for (let next = 1; next <= ahead; next++) fetchAhead(block + next);
          await here;
          const end = Math.min((block + 1) * blockBytes, sizeBytes);
          const { bytesRead } = await file
            .read(into, 0, Math.min(into.length, end - position), position)
            .catch(diskFailure);
          return bytesRead;
        },
      };
    },
    async close() {
      closing.abort(new AppError("cancelled", "The source is no longer read."));
      await Promise.allSettled(underway.values());
      await source.close();
      await file.close();
      await rm(path, { force: true });
    },
  };
}

type Slots = { run<Result>(work: () => Promise<Result>): Promise<Result>; free(): boolean };

/** First come, first served. */
function slotsFor(most: number): Slots {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (busy < most) busy += 1;
      else await new Promise<void>((go) => waiting.push(go));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else busy -= 1;
      }
    },
    free: () => busy < most,
  };
}
