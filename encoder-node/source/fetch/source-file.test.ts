import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, test } from "vitest";
import { parseRange } from "#shared/network/http-headers.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { closeServers, noise, sendRange, serve } from "../../testing/range-server.ts";
import { gapsIn, withRange } from "./byte-ranges.ts";
import { SourceDisk } from "./source-disk.ts";
import { SourceFile, type SourceFileOptions } from "./source-file.ts";
import { rangesByPiece } from "./source-pieces.ts";
import type { SourceReader } from "./source-reader.ts";

const BLOCK = 4096;
const CLIP = noise(BLOCK * 40 + 100);
const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };
const never = new AbortController().signal;

const folder = fileFolder();
let opened = 0;
const files: SourceFile[] = [];
afterEach(async () => {
  await Promise.all(files.splice(0).map((file) => file.close()));
  closeServers();
});

async function openFile(changes: Partial<SourceFileOptions> & Pick<SourceFileOptions, "pieces">): Promise<SourceFile> {
  const path = join(folder, `${++opened}`);
  const limits = { allow: "loopback", maxBytes: 1e9, timeouts: QUICK, blockBytes: BLOCK } as const;
  const file = await SourceFile.open({ path, ...limits, ...changes });
  files.push(file);
  return file;
}

/** Reads from `start` to `end`, in small pieces. */
async function readOn(reader: SourceReader, start: number, end: number): Promise<Buffer> {
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

test("adds ranges to a list, and finds the gaps between ranges", () => {
  const range = (start: number, end: number) => ({ start, end });
  const ranges = [range(10, 19), range(40, 49)];
  expect(withRange(ranges, range(20, 29))).toEqual([range(10, 29), range(40, 49)]);
  expect(withRange(ranges, range(15, 45))).toEqual([range(10, 49)]);
  expect(withRange(ranges, range(0, 5))[0]).toEqual(range(0, 5));
  expect(gapsIn([...ranges].reverse(), range(0, 60))).toEqual([range(0, 9), range(20, 39), range(50, 60)]);
  expect(gapsIn([...ranges, range(15, 60)], range(12, 55))).toEqual([]);
});

test("splits a range of a source into ranges of its pieces", () => {
  const pieces = [10, 5, 20].map((sizeBytes) => ({ sizeBytes }));
  expect(rangesByPiece(pieces, { start: 8, end: 16 })).toEqual([
    { piece: 0, start: 8, end: 9, position: 8 },
    { piece: 1, start: 0, end: 4, position: 10 },
    { piece: 2, start: 0, end: 1, position: 15 },
  ]);
  expect(rangesByPiece(pieces, { start: 10, end: 14 })).toEqual([{ piece: 1, start: 0, end: 4, position: 10 }]);
});

describe("a source of known size", () => {
  /** Serves the clip. `refuses` may answer in place of the server, and `mayAnswer` delays answers. */
  async function clipServer(mayAnswer: (block: number) => Promise<unknown> = async () => {}) {
    const now = new Set<object>();
    let most = 0;
    const server = await serve(async (request, response) => {
      now.add(response);
      most = Math.max(most, now.size);
      response.once("close", () => now.delete(response));
      await mayAnswer(firstOf(request) / BLOCK);
      sendRange(CLIP, request, response);
    });
    const blocks = (): number[] => server.seen.map((request) => firstOf(request) / BLOCK);
    return { ...server, blocks, most: () => most, pieces: [{ url: server.origin, sizeBytes: CLIP.length }] };
  }
  const firstOf = ({ headers }: IncomingMessage): number => Number(/^bytes=(\d+)/.exec(headers.range ?? "")?.[1] ?? 0);
  const soon = (): Promise<void> => sleep(5);

  it("is read up to its end", async () => {
    const { pieces } = await clipServer();
    const file = await openFile({ pieces });
    expect((await readOn(file.reader(), 0, CLIP.length + 5000)).equals(CLIP)).toBe(true);
    expect(await file.reader().read(Buffer.alloc(10), CLIP.length)).toBe(0);
    expect([file.isWhole, CLIP.equals(await readFile(file.path))]).toEqual([true, true]);
  });

  it("is read as a single file if it is stored in pieces", async () => {
    const boundaries = [0, 100_000, 100_001, CLIP.length];
    const pieceOf = (at: number) => CLIP.subarray(boundaries[at], boundaries[at + 1]);
    const { origin } = await serve((request, response) =>
      sendRange(pieceOf(Number(request.url?.slice(1))), request, response),
    );
    const pieces = [0, 1, 2].map((at) => ({ url: `${origin}/${at}`, sizeBytes: pieceOf(at).length }));
    const file = await openFile({ pieces });
    await file.load({ start: 99_990, end: 100_010 }, never);
    expect((await readOn(file.reader(), 99_990, 100_011)).equals(CLIP.subarray(99_990, 100_011))).toBe(true);
    await file.whole(never);
    expect(CLIP.equals(await readFile(file.path))).toBe(true);
  });

  it("is requested once for all readers, over eight connections at most", async () => {
    const { pieces, blocks, most } = await clipServer(soon);
    const file = await openFile({ pieces });
    const readers = Array.from({ length: 12 }, (_, at) => readOn(file.reader(), at * 7000, CLIP.length));
    const reads = await Promise.all(readers);
    expect(reads.every((bytes, at) => bytes.equals(CLIP.subarray(at * 7000)))).toBe(true);
    expect(blocks().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, at) => at));
    expect(most()).toBeLessThanOrEqual(8);
  });

  it("occupies disk space only for the blocks that were read", async () => {
    const { pieces } = await clipServer();
    const file = await openFile({ pieces });
    await readOn(file.reader(), 20 * BLOCK, 20 * BLOCK + 10);
    const { size, blocks } = await stat(file.path);
    expect(size).toBe(CLIP.length);
    expect(blocks * 512).toBeLessThan(4 * BLOCK);
  });

  it("is fetched ahead only for sequential reads, and a few blocks at most", async () => {
    const { pieces, blocks } = await clipServer();
    const file = await openFile({ pieces });
    await readOn(file.reader(), 10 * BLOCK, 10 * BLOCK + 3000);
    await soon();
    expect(blocks()).toEqual([10]);
    await readOn(file.reader(), 12 * BLOCK, 19 * BLOCK + 10);
    await expect.poll(() => Math.max(...blocks())).toBe(19 + 3);
    await soon();
    expect([Math.max(...blocks()), new Set(blocks()).size]).toEqual([19 + 3, blocks().length]);
  });

  it("is loaded in exactly the requested ranges, and not twice", async () => {
    const { pieces, seen } = await clipServer();
    const file = await openFile({ pieces });
    await file.load({ start: 100, end: 199 }, never);
    await Promise.all([file.load({ start: 50, end: 249 }, never), file.load({ start: 50, end: 249 }, never)]);
    expect(seen.map(({ headers }) => headers.range)).toEqual(["bytes=100-199", "bytes=50-99", "bytes=200-249"]);
  });

  it("is requested again by the next reader after a failure", async () => {
    let fails = true;
    const { origin } = await serve((request, response) => {
      if (fails) response.writeHead(404).end();
      else sendRange(CLIP, request, response);
    });
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: CLIP.length }] });
    const reads = [file.reader(), file.reader()].map((reader) => readOn(reader, 0, 10));
    for (const read of reads) await expect(read).rejects.toMatchObject({ code: "input_http_404" });
    fails = false;
    expect((await readOn(file.reader(), 0, 10)).equals(CLIP.subarray(0, 10))).toBe(true);
  });

  it("is not stored without disk space", async () => {
    const { pieces } = await clipServer();
    let free = 2 * BLOCK;
    const file = await openFile({ pieces, disk: new SourceDisk(async () => free).open(folder) });
    await readOn(file.reader(), 0, 10);
    free = BLOCK - 1;
    await expect(readOn(file.reader(), BLOCK, BLOCK + 10)).rejects.toMatchObject({ code: "node_busy" });
    expect((await stat(file.path)).blocks * 512).toBe(BLOCK);
  });

  it("fails waiting readers when it is closed", async () => {
    const { origin } = await serve(() => undefined);
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: CLIP.length }] });
    const waiting = [readOn(file.reader(), 0, 10), readOn(file.reader(), 0, 10), file.whole(never)];
    const failures = waiting.map((read) => expect(read).rejects.toMatchObject({ code: "cancelled" }));
    await file.close();
    await Promise.all(failures);
    await expect(readOn(file.reader(), 0, 10)).rejects.toMatchObject({ code: "cancelled" });
    expect(existsSync(file.path)).toBe(true);
  });

  it("blames the node when the file cannot be created", async () => {
    const path = join(import.meta.filename, "no-folder");
    await expect(openFile({ path, pieces: [{ url: "http://127.0.0.1:9", sizeBytes: 10 }] })).rejects.toMatchObject({
      code: "node_failed",
    });
  });
});

describe.each<[string, (response: ServerResponse) => unknown]>([
  ["responds with 429 to others", (response) => response.writeHead(429, { "retry-after": "60" }).end()],
  ["closes others", (response) => response.destroy()],
])("a host that allows a single connection, and %s,", (_, refuse) => {
  it("gets one request after the other", async () => {
    let open = 0;
    const { origin } = await serve((request, response) => {
      if (open > 0) return void refuse(response);
      open += 1;
      response.once("finish", () => {
        open -= 1;
      });
      setTimeout(() => sendRange(CLIP, request, response), 20);
    });
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: CLIP.length }] });
    const readers = [0, 7, 14, 21, 28, 35].map((block) => readOn(file.reader(), block * BLOCK, block * BLOCK + 10));
    for (const [at, bytes] of (await Promise.all(readers)).entries())
      expect(bytes.equals(CLIP.subarray(at * 7 * BLOCK, at * 7 * BLOCK + 10))).toBe(true);
  });
});

describe("a source of unknown size", () => {
  const LARGE = noise(28_000_000);
  /** Bytes per tick and connection: the whole file over a single connection would take several seconds. */
  const TICK_BYTES = 150_000;
  const TICK_MS = 25;

  async function sendSlowly(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const range = parseRange(request.headers.range, LARGE.length);
    const { start, end } = range && range !== "beyond" ? range : { start: 0, end: LARGE.length - 1 };
    const part = range ? { "content-range": `bytes ${start}-${end}/${LARGE.length}` } : { "accept-ranges": "bytes" };
    response.writeHead(range ? 206 : 200, { etag: '"v1"', "content-length": end - start + 1, ...part });
    for (let at = start; at <= end && !response.destroyed; at += TICK_BYTES) {
      response.write(LARGE.subarray(at, Math.min(at + TICK_BYTES, end + 1)));
      await sleep(TICK_MS);
    }
    response.end();
  }

  /** Serves ranges slowly, each connection on its own. `refuses` may respond in place of the server. */
  async function slowServer(refuses: (request: IncomingMessage, response: ServerResponse, open: number) => boolean) {
    let open = 0;
    let most = 0;
    const server = await serve((request, response) => {
      open += 1;
      response.once("close", () => {
        open -= 1;
      });
      if (refuses(request, response, open)) return;
      most = Math.max(most, open);
      void sendSlowly(request, response);
    });
    return { ...server, mostOpen: () => most, pieces: [{ url: server.origin, sizeBytes: null }] };
  }
  const isLarge = async ({ path }: SourceFile): Promise<boolean> => LARGE.equals(await readFile(path));

  it("is fetched over several connections if it is slow, and read meanwhile", async () => {
    const { pieces, mostOpen, seen } = await slowServer(() => false);
    const file = await openFile({ pieces, blockBytes: undefined });
    const received: number[] = [];
    const end = Promise.withResolvers<number>();
    const whole = file.whole(never, (bytes) => {
      received.push(bytes);
      if (file.hasRanges) end.resolve(file.transfer.received);
    });
    expect(await end.promise).toBeLessThan(LARGE.length);
    const unhold = file.hold();
    const tail = await readOn(file.reader(), LARGE.length - 1000, LARGE.length);
    expect(tail.equals(LARGE.subarray(-1000))).toBe(true);
    unhold();
    expect(await whole).toBe(LARGE.length);
    expect(await isLarge(file)).toBe(true);
    expect(mostOpen()).toBeGreaterThanOrEqual(2);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(seen[0]?.headers.range).toBeUndefined();
    for (const { headers } of seen.slice(2)) expect(headers["if-range"]).toBe('"v1"');
  });

  it.each([
    ["429", (_: IncomingMessage, response: ServerResponse) => response.writeHead(429, { "retry-after": "0" }).end()],
    ["a closed connection", (request: IncomingMessage) => request.socket.destroy()],
  ])("goes on over one connection when the host responds with %s to a second one", async (_what, refuse) => {
    const { pieces } = await slowServer((request, response, open) => {
      const isRefused = open > 1 && request.headers.range !== "bytes=0-0";
      if (isRefused) refuse(request, response);
      return isRefused;
    });
    const file = await openFile({ pieces });
    expect([await file.whole(never), await isLarge(file)]).toEqual([LARGE.length, true]);
  });

  it("keeps its connection when the URL allows only a single request", async () => {
    let requests = 0;
    const { pieces } = await slowServer((_, response) => {
      requests += 1;
      if (requests > 1) response.writeHead(403).end();
      return requests > 1;
    });
    const file = await openFile({ pieces });
    expect([await file.whole(never), await isLarge(file), file.hasRanges]).toEqual([LARGE.length, true, false]);
    expect(requests).toBe(2);
  });

  it("keeps its bytes when all callers have left, and shares the rest among the next", async () => {
    const stop = new AbortController();
    // The last part does not arrive before the stop.
    const { pieces, seen } = await slowServer(({ headers }) => {
      const start = Number(/^bytes=(\d+)/.exec(headers.range ?? "")?.[1] ?? 0);
      return !stop.signal.aborted && start > 20_000_000;
    });
    const file = await openFile({ pieces });
    const stayed = new AbortController();
    const stopAt = (received: number): void => {
      if (received > 12_000_000) stop.abort("stopped");
    };
    const left = [file.whole(stop.signal, stopAt), file.whole(stayed.signal)];
    await expect(left[0]).rejects.toBe("stopped");
    const { received } = file.transfer;
    stayed.abort("left too");
    await expect(left[1]).rejects.toBe("left too");
    expect([file.isWhole, file.canResume]).toEqual([false, true]);
    const progress: number[] = [];
    await Promise.all([file.whole(never, (bytes) => progress.push(bytes)), file.whole(never)]);
    expect(await isLarge(file)).toBe(true);
    expect(Math.min(...progress)).toBeGreaterThanOrEqual(received);
    expect(seen.filter(({ headers }) => headers.range === undefined)).toHaveLength(1);
  });

  it("is read to its end by a reader that waits for a host without ranges", async () => {
    const { origin, seen } = await serve((_, response) => void response.writeHead(200, { etag: '"v1"' }).end(CLIP));
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: null }] });
    expect(await file.askForRanges(never)).toBe(false);
    expect((await readOn(file.reader(), 5000, 6000)).equals(CLIP.subarray(5000, 6000))).toBe(true);
    expect(seen).toHaveLength(2);
  });

  it.each<[string, Parameters<typeof serve>[0]]>([
    ["supports no ranges", (_, response) => void response.writeHead(200, { etag: '"v1"' }).end(CLIP)],
    [
      "identifies no version",
      (_, response) => void response.writeHead(206, { "content-range": `bytes 0-0/${CLIP.length}` }).end("x"),
    ],
    [
      "sends no size",
      (_, response) => void response.writeHead(206, { etag: '"v1"', "content-range": "bytes 0-0/*" }).end("x"),
    ],
    ["has an empty file", (_, response) => void response.writeHead(416, { "content-range": "bytes */0" }).end()],
  ])("has no ranges if the host %s", async (_, answer) => {
    const file = await openFile({ pieces: [{ url: (await serve(answer)).origin, sizeBytes: null }] });
    expect([await file.askForRanges(never), file.hasRanges]).toEqual([false, false]);
  });

  it("has ranges if the host sends size and version of a range", async () => {
    const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: null }] });
    expect([await file.askForRanges(never), file.sizeBytes, file.validator]).toEqual([true, CLIP.length, '"v1"']);
    expect(seen.map(({ headers }) => headers.range)).toEqual(["bytes=0-0"]);
  });

  it("is empty if the host sends nothing", async () => {
    const { origin } = await serve((_, response) => void response.writeHead(200, { "content-length": 0 }).end());
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: null }] });
    expect(await file.whole(never)).toBe(0);
  });

  it("is fetched again in another version when nobody reads it, after parts of the first one", async () => {
    const [old, etags] = [Buffer.alloc(CLIP.length, 1), ['"v1"', '"v1"', '"v2"']];
    const { origin } = await serve((request, response) => {
      const etag = etags.shift() ?? '"v2"';
      sendRange(etag === '"v2"' ? CLIP : old, request, response, { etag });
    });
    const file = await openFile({ pieces: [{ url: origin, sizeBytes: null }] });
    expect(await file.askForRanges(never)).toBe(true);
    await file.load({ start: 5000, end: 5999 }, never);
    expect(await file.whole(never)).toBe(CLIP.length);
    expect(CLIP.equals(await readFile(file.path))).toBe(true);
  });
});
