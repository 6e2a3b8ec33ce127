// Caches the blocks of a source on disk: each block is fetched when a reader needs it, and only once.
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { Limiter } from "../../async/in-parallel.ts";
import { checkDiskSpace, diskFailure, type FreeSpace, writeAt } from "../fetch/source-disk.ts";
import type { RangeReader } from "./range-reader.ts";

export type BlockCacheOptions = {
  /**
   * The file to create, with its folder. It is as long as the source, but occupies only the disk space of the bytes
   * that were read.
   */
  readonly path: string;
  /** Closed with the cache. */
  readonly source: RangeReader;
  readonly blockBytes?: number | undefined;
  /** Blocks that are fetched at the same time, for all readers. */
  readonly parallel?: number | undefined;
  /** For tests; by default the free space of the disk, except a reserve. */
  readonly freeSpace?: FreeSpace | undefined;
};

/** A reader with a position. After some sequential reads it fetches blocks ahead. */
export interface BlockReader {
  /**
   * Fills `into` from `position`, at most to the end of a block, and returns the number of bytes; 0 at the end. Throws
   * AppError as `RangeReader.read` does, and `node_failed` for errors of the disk.
   */
  read(into: Buffer, position: number): Promise<number>;
}

/** A seek in MPEG-TS reads at about 20 places, and each costs a block. */
export const BLOCK_BYTES = 1024 * 1024;
const PARALLEL = 6;
/**
 * Maximum number of blocks ahead, and the number of sequential blocks that must have been read for each. Blocks after
 * the end of a chunk or of the file's header are fetched in vain. Four blocks in flight are 4 MB per round trip, and
 * encoders need less in a second.
 */
const MAX_AHEAD = 3;
const SEQUENTIAL_PER_AHEAD = 2;

export class BlockCache {
  readonly sizeBytes: number;
  readonly #options: BlockCacheOptions;
  readonly #file: FileHandle;
  readonly #blockBytes: number;
  readonly #blocks: number;
  /** By block: 1 when it is in the file. */
  readonly #present: Uint8Array;
  readonly #running = new Map<number, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #limiter: Limiter;
  /** Memory for blocks that are fetched, to be used again. */
  readonly #free: Buffer[] = [];
  #fetchedBytes = 0;

  private constructor(options: BlockCacheOptions, file: FileHandle) {
    const { source, blockBytes = BLOCK_BYTES, parallel = PARALLEL } = options;
    this.sizeBytes = source.sizeBytes;
    this.#options = options;
    this.#file = file;
    this.#blockBytes = blockBytes;
    this.#blocks = Math.ceil(source.sizeBytes / blockBytes);
    this.#present = new Uint8Array(this.#blocks);
    this.#limiter = new Limiter(parallel);
  }

  /** Throws AppError `node_failed` when the file cannot be created. */
  static async open(options: BlockCacheOptions): Promise<BlockCache> {
    const { path, source } = options;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(diskFailure);
    const file = await open(path, "wx+", 0o600).catch(diskFailure);
    try {
      await file.truncate(source.sizeBytes);
    } catch (error) {
      await file.close();
      diskFailure(error);
    }
    return new BlockCache(options, file);
  }

  get fetchedBytes(): number {
    return this.#fetchedBytes;
  }

  reader(): BlockReader {
    let current = -1;
    let sequential = 0;
    return {
      read: async (into, position) => {
        this.#closing.signal.throwIfAborted();
        if (position >= this.sizeBytes) return 0;
        const block = Math.floor(position / this.#blockBytes);
        if (block !== current) {
          sequential = block === current + 1 && current >= 0 ? sequential + 1 : 0;
          current = block;
        }
        const fetching = this.#present[block] ? null : this.#fetchOnce(block);
        const ahead = Math.min(Math.floor(sequential / SEQUENTIAL_PER_AHEAD), MAX_AHEAD);
        for (let next = 1; next <= ahead; next++) this.#fetchAhead(block + next);
        await fetching;
        const end = Math.min((block + 1) * this.#blockBytes, this.sizeBytes);
        const length = Math.min(into.length, end - position);
        return (await this.#file.read(into, 0, length, position).catch(diskFailure)).bytesRead;
      },
    };
  }

  /** Stops all fetches and removes the file. Waiting readers fail. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("cancelled", "The source is no longer read."));
    await Promise.allSettled(this.#running.values());
    await this.#options.source.close();
    await this.#file.close();
    await rm(this.#options.path, { force: true });
  }

  #fetchOnce(block: number): Promise<void> {
    const running = this.#running.get(block);
    if (running) return running;
    const fetching = this.#fetch(block).finally(() => this.#running.delete(block));
    // Waiting readers get the error, but there may be no reader.
    fetching.catch(() => undefined);
    this.#running.set(block, fetching);
    return fetching;
  }

  /** Fetches a block ahead, but only if this delays no block that a reader waits for. */
  #fetchAhead(block: number): void {
    const isMissing = block < this.#blocks && !this.#present[block];
    if (isMissing && this.#limiter.isFree && !this.#closing.signal.aborted) void this.#fetchOnce(block);
  }

  async #fetch(block: number): Promise<void> {
    const { path, source, freeSpace } = this.#options;
    const start = block * this.#blockBytes;
    const range: ByteRange = { start, end: Math.min(start + this.#blockBytes, this.sizeBytes) - 1 };
    await this.#limiter.run(async () => {
      await checkDiskSpace(dirname(path), range.end + 1 - start, freeSpace);
      // Written at once: many small writes cost several times as much CPU time.
      const fetched = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#blockBytes);
      const gather = async (bytes: Buffer, position: number): Promise<void> => {
        this.#fetchedBytes += bytes.copy(fetched, position - start);
      };
      try {
        await source.read(range, gather, this.#closing.signal);
        await writeAt(this.#file, fetched.subarray(0, range.end + 1 - start), start);
      } finally {
        this.#free.push(fetched);
      }
    });
    this.#present[block] = 1;
  }
}
