import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { closeServers, noise, sendRange, serve } from "../../testing/range-server.ts";
import { BlockCache, type BlockReader } from "./block-cache.ts";
import { SharedBlockCaches } from "./block-cache-sharing.ts";
import type { RangeReader } from "./range-reader.ts";

const BLOCK = 4096;
const CLIP = noise(BLOCK * 40 + 100);

const folder = fileFolder();
let files = 0;
const caches: BlockCache[] = [];
afterEach(async () => {
  await Promise.all(caches.splice(0).map((cache) => cache.close()));
  closeServers();
});

/** A source in memory that is as slow as `wait`, and records its requests. */
function source(wait: (block: number) => Promise<unknown> = async () => {}) {
  const requested: number[] = [];
  const most = { now: 0, ever: 0 };
  const reader: RangeReader = {
    sizeBytes: CLIP.length,
    async read({ start, end }, take, signal) {
      requested.push(start / BLOCK);
      most.ever = Math.max(most.ever, ++most.now);
      try {
        await wait(start / BLOCK);
        signal.throwIfAborted();
        const middle = Math.ceil((start + end) / 2);
        await take(CLIP.subarray(start, middle), start);
        await take(CLIP.subarray(middle, end + 1), middle);
      } finally {
        most.now -= 1;
      }
    },
    close: async () => {},
  };
  return { reader, requested, most };
}

async function cacheOf(reader: RangeReader, parallel = 3): Promise<BlockCache> {
  const cache = await BlockCache.open({
    path: join(folder, `${++files}`),
    source: reader,
    blockBytes: BLOCK,
    parallel,
  });
  caches.push(cache);
  return cache;
}

/** Reads from `start` to `end`, in small pieces. */
async function readOn(reader: BlockReader, start: number, end: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let position = start; position < end; ) {
    const into = Buffer.alloc(Math.min(1500, end - position));
    const length = await reader.read(into, position);
    if (length === 0) break;
    pieces.push(into.subarray(0, length));
    position += length;
  }
  return Buffer.concat(pieces);
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

describe("a block cache", () => {
  it("reads the bytes of the source, up to its end", async () => {
    const cache = await cacheOf(source().reader);
    expect((await readOn(cache.reader(), 0, CLIP.length + 5000)).equals(CLIP)).toBe(true);
    expect(await cache.reader().read(Buffer.alloc(10), CLIP.length)).toBe(0);
  });

  it("fetches blocks once for all readers, with a limit of parallel fetches", async () => {
    const { reader, requested, most } = source(soon);
    const cache = await cacheOf(reader);
    const readers = Array.from({ length: 8 }, (_, at) => readOn(cache.reader(), at * 7000, CLIP.length));
    const read = await Promise.all(readers);
    expect(read.every((bytes, at) => bytes.equals(CLIP.subarray(at * 7000)))).toBe(true);
    expect(requested.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, at) => at));
    expect([most.ever, cache.fetchedBytes]).toEqual([3, CLIP.length]);
  });

  it("occupies disk space only for fetched blocks", async () => {
    const cache = await cacheOf(source().reader);
    await readOn(cache.reader(), 20 * BLOCK, 20 * BLOCK + 10);
    const { size, blocks } = await stat(join(folder, `${files}`));
    expect(size).toBe(CLIP.length);
    expect(blocks * 512).toBeLessThan(4 * BLOCK);
  });

  it("fetches blocks ahead only for sequential reads, and a few at most", async () => {
    const { reader, requested } = source(soon);
    const cache = await cacheOf(reader, 10);
    await readOn(cache.reader(), 10 * BLOCK, 10 * BLOCK + 3000);
    await soon();
    expect(requested).toEqual([10]);
    await readOn(cache.reader(), 12 * BLOCK, 19 * BLOCK + 10);
    await soon();
    expect(requested.toSorted((a, b) => a - b).at(-1)).toBe(19 + 3);
    expect(new Set(requested).size).toBe(requested.length);
  });

  it("fetches failed blocks again for the next reader", async () => {
    let fails = true;
    const { reader } = source(async () => {
      if (fails) throw new AppError("input_unreachable", "offline");
    });
    const cache = await cacheOf(reader);
    await expect(readOn(cache.reader(), 0, 10)).rejects.toMatchObject({ code: "input_unreachable" });
    fails = false;
    expect((await readOn(cache.reader(), 0, 10)).equals(CLIP.subarray(0, 10))).toBe(true);
  });

  it("fetches no block without disk space", async () => {
    const { reader, requested } = source();
    let free = 2 * BLOCK;
    const freeSpace = async (): Promise<number> => free;
    const cache = await BlockCache.open({
      path: join(folder, `${++files}`),
      source: reader,
      blockBytes: BLOCK,
      freeSpace,
    });
    caches.push(cache);
    await readOn(cache.reader(), 0, 10);
    free = BLOCK - 1;
    await expect(readOn(cache.reader(), BLOCK, BLOCK + 10)).rejects.toMatchObject({ code: "node_busy" });
    expect(requested).toEqual([0]);
  });

  it("removes its blocks when it is closed, and fails waiting readers", async () => {
    const { reader } = source(soon);
    const cache = await cacheOf(reader);
    const waiting = expect(readOn(cache.reader(), 0, 10)).rejects.toMatchObject({ code: "cancelled" });
    await cache.close();
    await waiting;
    expect(existsSync(join(folder, `${files}`))).toBe(false);
    caches.pop();
  });
});

describe("a job's cache", () => {
  it("shares a job's cache among its tasks, keeps it for a while, and removes it", async () => {
    const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
    const cacheFolder = join(folder, "shared");
    const shared = new SharedBlockCaches(cacheFolder, { keepMs: 60, blockBytes: BLOCK });
    const rangeSource = { pieces: [{ url: origin, sizeBytes: CLIP.length }], allow: "loopback" } as const;
    const first = await shared.acquire("job", rangeSource);
    const second = await shared.acquire("job", rangeSource);
    await Promise.all([first, second].map(({ cache }) => readOn(cache.reader(), 0, 100)));
    first.release();
    second.release();
    const third = await shared.acquire("job", rangeSource);
    expect((await readOn(third.cache.reader(), 0, 100)).equals(CLIP.subarray(0, 100))).toBe(true);
    expect(seen.length).toBe(1);
    third.release();
    await expect.poll(() => readdir(cacheFolder)).toEqual([]);
    const fourth = await shared.acquire("job", rangeSource);
    await readOn(fourth.cache.reader(), 0, 100);
    expect(seen.length).toBe(2);
    await shared.clear();
    expect(existsSync(cacheFolder)).toBe(false);
  });

  it("blames the node when a cache cannot be created", async () => {
    const shared = new SharedBlockCaches(join(import.meta.filename, "no-folder"));
    const rangeSource = { pieces: [{ url: "http://127.0.0.1:9", sizeBytes: 10 }], allow: "loopback" } as const;
    await expect(shared.acquire("job", rangeSource)).rejects.toMatchObject({ code: "node_failed" });
  });
});
