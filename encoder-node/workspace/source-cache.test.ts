import { readdir, readFile, writeFile } from "node:fs/promises";
import { beforeEach, expect, it, vi } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";
import { type FetchOptions, type FetchTo, SourceCache, TRANSFER_ABANDONED } from "./source-cache.ts";

const folder = emptiedFolder();
let cache: SourceCache;
const never = new AbortController().signal;
beforeEach(async () => {
  cache = new SourceCache(folder);
});

it("fetches a source once for all callers, and keeps it for the next", async () => {
  const fetchTo = vi.fn((path: string) => writeFile(path, "video"));
  const both = await Promise.all([
    cache.acquire("job", fetchTo, { signal: never }),
    cache.acquire("job", fetchTo, { signal: never }),
  ]);
  for (const held of both) held.release();
  const later = await cache.acquire("job", fetchTo, { signal: never });
  expect(await readFile(later.path, "utf8")).toBe("video");
  expect(fetchTo).toHaveBeenCalledOnce();
  await cache.clear();
  await expect(readdir(folder)).rejects.toThrow();
});

it("keeps nothing of a fetch that failed", async () => {
  const broken = vi.fn(() => Promise.reject(new Error("gone")));
  await expect(cache.acquire("job", broken, { signal: never })).rejects.toThrow("gone");
  const held = await cache.acquire("job", (path) => writeFile(path, "video"), { signal: never });
  expect(await readFile(held.path, "utf8")).toBe("video");
});

it("stops a fetch that no caller waits for, but continues a fetch that another caller waits for", async () => {
  const stopped = vi.fn();
  const fetchTo = (path: string, { signal }: FetchOptions) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => void writeFile(path, "video").then(resolve), 200);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        stopped();
        reject(signal.reason);
      });
    });
  const leaving = new AbortController();
  const first = cache.acquire("shared", fetchTo, { signal: leaving.signal });
  const second = cache.acquire("shared", fetchTo, { signal: never });
  leaving.abort(new Error("aborted"));
  await expect(first).rejects.toThrow("aborted");
  expect(await readFile((await second).path, "utf8")).toBe("video");
  expect(stopped).not.toHaveBeenCalled();

  const two = new AbortController();
  const fetching = vi.fn(fetchTo);
  const alone = cache.acquire("alone", fetching, { signal: two.signal });
  await vi.waitFor(() => expect(fetching).toHaveBeenCalled());
  two.abort(new Error("aborted"));
  await expect(alone).rejects.toThrow("aborted");
  await vi.waitFor(() => expect(stopped).toHaveBeenCalledOnce());
  await vi.waitFor(async () => expect(await readdir(folder)).toEqual(["shared-1"]));
});

it("reports progress to all callers that still wait", async () => {
  const fetching = Promise.withResolvers<(fraction: number) => void>();
  const arrived = Promise.withResolvers<void>();
  const fetchTo: FetchTo = async (path, { onProgress }) => {
    fetching.resolve(onProgress);
    await arrived.promise;
    await writeFile(path, "video");
  };
  const gaveUp = new AbortController();
  const [first, second, third] = [vi.fn(), vi.fn(), vi.fn()];
  const waiting = [first, second].map((onProgress) => cache.acquire("job", fetchTo, { signal: never, onProgress }));
  const left = cache.acquire("job", fetchTo, { signal: gaveUp.signal, onProgress: third });
  gaveUp.abort(new Error("aborted"));
  await expect(left).rejects.toThrow("aborted");
  (await fetching.promise)(0.5);
  arrived.resolve();
  await Promise.all(waiting);
  expect([first, second, third].map(({ mock }) => mock.calls)).toEqual([[[0.5]], [[0.5]], []]);
});

it("keeps the received bytes for a caller that leaves, and lets no caller leave a transfer that cannot be resumed", async () => {
  const transfers: object[] = [];
  const fetchPart =
    (canResume: boolean): FetchTo =>
    async (path, { resume, onProgress, signal }) => {
      Object.assign(resume, { received: 5, totalBytes: 10, canResume });
      onProgress(0.5);
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 20));
      signal.throwIfAborted();
      await writeFile(path, "video");
    };
  const abandonWhen = (transfer: object): boolean => transfers.push(transfer) > 0;
  const left = cache.acquire("job", fetchPart(true), { signal: never, abandonWhen });
  await expect(left).rejects.toBe(TRANSFER_ABANDONED);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(transfers).toEqual([{ received: 5, totalBytes: 10, elapsedMs: expect.any(Number) }]);
  const resumed = await cache.acquire("job", fetchPart(false), { signal: never, abandonWhen });
  expect(await readFile(resumed.path, "utf8")).toBe("video");
  expect(transfers).toHaveLength(1);
});
