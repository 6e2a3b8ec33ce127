import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { emptiedFolder } from "../../test/fixtures.ts";
import { closeServers, noise, sendRange, serve, type TestServer } from "../testing/range-server.ts";
import { type OpenOptions, SourceCache } from "./source-cache.ts";

const CLIP = noise(100_000);
const never = new AbortController().signal;
const folder = emptiedFolder();
let cache: SourceCache;
beforeEach(() => {
  cache = new SourceCache(join(folder, "sources"));
});
afterEach(async () => {
  await cache.clear();
  expect(await readdir(folder)).toEqual([]);
  closeServers();
});

const optionsOf = (url: string, sizeBytes: number | null = null): OpenOptions => ({
  locate: async () => [{ url, sizeBytes }],
  allow: "loopback",
  maxBytes: 1e9,
});
const isClip = async ({ path }: { readonly path: string }): Promise<boolean> => CLIP.equals(await readFile(path));

/** Sends half of the clip, and the other half when `release` is called. Supports ranges. */
async function halvedServer(headers: Record<string, string> = { etag: '"v1"', "accept-ranges": "bytes" }) {
  const released = Promise.withResolvers<void>();
  const half = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server: TestServer = await serve(async (request, response) => {
    if (request.headers.range) return sendRange(CLIP, request, response);
    response.writeHead(200, { ...headers, "content-length": CLIP.length }).write(CLIP.subarray(0, 50_000));
    half.resolve();
    response.once("close", closed.resolve);
    await released.promise;
    response.end(CLIP.subarray(50_000));
  });
  return { ...server, half: half.promise, closed: closed.promise, release: released.resolve };
}

it("fetches a source once for all callers, and keeps it for the next", async () => {
  const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
  const how = { signal: never };
  const both = await Promise.all([
    cache.acquire("job", optionsOf(origin), how),
    cache.acquire("job", optionsOf(origin), how),
  ]);
  for (const source of both) source.release();
  const later = await cache.acquire("job", optionsOf(origin), how);
  expect([await isClip(later), seen.length]).toEqual([true, 1]);
});

it("shares a file of ranges, keeps it for a while, and removes it", async () => {
  const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
  const sources = new SourceCache(join(folder, "brief"), { keepMs: 60 });
  const read = async (): Promise<() => void> => {
    const { file, release } = await sources.open("job", optionsOf(origin, CLIP.length));
    await file.load({ start: 0, end: 99 }, never);
    return release;
  };
  for (const release of [await read(), await read()]) release();
  (await read())();
  expect(seen.length).toBe(1);
  await expect.poll(() => readdir(join(folder, "brief"))).toEqual([]);
  (await read())();
  expect(seen.length).toBe(2);
  await sources.clear();
});

it("keeps nothing of a fetch that failed", async () => {
  let fails = true;
  const { origin } = await serve((request, response) => {
    if (fails) response.writeHead(404).end();
    else sendRange(CLIP, request, response);
  });
  const acquired = () => cache.acquire("job", optionsOf(origin), { signal: never });
  await expect(acquired()).rejects.toMatchObject({ code: "input_http_404" });
  fails = false;
  expect(await isClip(await acquired())).toBe(true);
  await expect.poll(() => readdir(join(folder, "sources"))).toHaveLength(1);
});

it("keeps nothing of a source that cannot be located", async () => {
  const failing = { ...optionsOf(""), locate: () => Promise.reject(new AppError("lease_superseded", "superseded")) };
  await expect(cache.open("job", failing)).rejects.toMatchObject({ code: "lease_superseded" });
  const { origin } = await serve((request, response) => sendRange(CLIP, request, response));
  expect(await isClip(await cache.acquire("job", optionsOf(origin), { signal: never }))).toBe(true);
});

it("blames the node when its folder cannot be created", async () => {
  const sources = new SourceCache(join(import.meta.filename, "no-folder"));
  await expect(sources.open("job", optionsOf("http://127.0.0.1:9"))).rejects.toMatchObject({ code: "node_failed" });
});

it("continues a fetch that another caller waits for", async () => {
  const { origin, seen, half, release } = await halvedServer();
  const leaving = new AbortController();
  const first = cache.acquire("job", optionsOf(origin), { signal: leaving.signal });
  const progress: number[] = [];
  const second = cache.acquire("job", optionsOf(origin), {
    signal: never,
    onProgress: (fraction) => progress.push(fraction),
  });
  await half;
  leaving.abort(new Error("aborted"));
  await expect(first).rejects.toThrow("aborted");
  release();
  expect([await isClip(await second), seen.length, progress.at(-1)]).toEqual([true, 1, 1]);
});

it.each([
  ["keeps the bytes of a stopped fetch if its host can resume", undefined, "bytes=50000-", 1],
  ["keeps no bytes of a stopped fetch if its host cannot resume", {}, undefined, 0],
])("%s", async (_, headers, range, entries) => {
  const { origin, seen, release } = await halvedServer(headers);
  const leaving = new AbortController();
  const onProgress = (fraction: number): void => {
    if (fraction >= 0.5) leaving.abort("left");
  };
  await expect(cache.acquire("job", optionsOf(origin), { signal: leaving.signal, onProgress })).rejects.toBe("left");
  await expect.poll(() => readdir(join(folder, "sources"))).toHaveLength(entries);
  release();
  expect(await isClip(await cache.acquire("job", optionsOf(origin), { signal: never }))).toBe(true);
  expect(seen.at(-1)?.headers.range).toBe(range);
});

it("lets a caller start early while the rest arrives, and stops the rest when the caller leaves", async () => {
  const { origin, closed } = await halvedServer();
  const startsEarly = ({ transfer }: { readonly transfer: { readonly received: number } }): boolean =>
    transfer.received >= 50_000;
  const source = await cache.acquire("job", optionsOf(origin), { signal: never, startsEarly });
  expect([source.arriving?.isWhole, source.arriving?.transfer.received]).toEqual([false, 50_000]);
  source.release();
  source.release();
  await closed;
  const whole = await cache.acquire("job", optionsOf(origin), { signal: never });
  expect([await isClip(whole), "arriving" in whole]).toEqual([true, false]);
});
