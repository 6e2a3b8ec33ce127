import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSourceCache, type FetchTo, type SourceCache, TURN_OVER } from "./source-cache.ts";

let folder: string;
let cache: SourceCache;
const never = new AbortController().signal;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-sources-"));
  cache = createSourceCache(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("fetches a source once for all who want it, and keeps it for the next", async () => {
  const fetchTo = vi.fn((path: string) => writeFile(path, "film"));
  const both = await Promise.all([cache.acquire("job", fetchTo, never), cache.acquire("job", fetchTo, never)]);
  for (const held of both) held.release();
  const later = await cache.acquire("job", fetchTo, never);
  expect(await readFile(later.path, "utf8")).toBe("film");
  expect(fetchTo).toHaveBeenCalledOnce();
  await cache.clear();
  await expect(readdir(folder)).rejects.toThrow();
});

it("keeps nothing of a fetch that failed", async () => {
  const broken = vi.fn(() => Promise.reject(new Error("gone")));
  await expect(cache.acquire("job", broken, never)).rejects.toThrow("gone");
  const held = await cache.acquire("job", (path) => writeFile(path, "film"), never);
  expect(await readFile(held.path, "utf8")).toBe("film");
});

it("stops a fetch that nobody wants any more, but not one that another still wants", async () => {
  const stopped = vi.fn();
  const fetchTo = (path: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => void writeFile(path, "film").then(resolve), 200);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        stopped();
        reject(signal.reason);
      });
    });
  const one = new AbortController();
  const first = cache.acquire("shared", fetchTo, one.signal);
  const second = cache.acquire("shared", fetchTo, never);
  one.abort(new Error("not wanted"));
  await expect(first).rejects.toThrow("not wanted");
  expect(await readFile((await second).path, "utf8")).toBe("film");
  expect(stopped).not.toHaveBeenCalled();

  const two = new AbortController();
  const begun = vi.fn(fetchTo);
  const alone = cache.acquire("alone", begun, two.signal);
  await vi.waitFor(() => expect(begun).toHaveBeenCalled());
  two.abort(new Error("not wanted"));
  await expect(alone).rejects.toThrow("not wanted");
  await vi.waitFor(() => expect(stopped).toHaveBeenCalledOnce());
  await vi.waitFor(async () => expect(await readdir(folder)).toEqual(["shared-1"]));
});

it("tells all who wait how far the fetch is, and nobody who has given up", async () => {
  const fetching = Promise.withResolvers<(fraction: number) => void>();
  const arrived = Promise.withResolvers<void>();
  const fetchTo: FetchTo = async (path, _, onFetched) => {
    fetching.resolve(onFetched);
    await arrived.promise;
    await writeFile(path, "film");
  };
  const gaveUp = new AbortController();
  const [first, second, third] = [vi.fn(), vi.fn(), vi.fn()];
  const waiting = [cache.acquire("job", fetchTo, never, first), cache.acquire("job", fetchTo, never, second)];
  const left = cache.acquire("job", fetchTo, gaveUp.signal, third);
  gaveUp.abort(new Error("not wanted"));
  await expect(left).rejects.toThrow("not wanted");
  (await fetching.promise)(0.5);
  arrived.resolve();
  await Promise.all(waiting);
  expect([first, second, third].map(({ mock }) => mock.calls)).toEqual([[[0.5]], [[0.5]], []]);
});

it("keeps what has come of a source whose turn is over for its next one, if it can go on", async () => {
  const seen: [path: string, received: number][] = [];
  const slow =
    (canResume: boolean): FetchTo =>
    (path, signal, _, { part, onSlow }) => {
      seen.push([path, part.received]);
      Object.assign(part, { received: part.received + 5, canResume });
      onSlow();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
  const oneTurn = async (canResume: boolean): Promise<void> => {
    const turn = new AbortController();
    const fetching = cache.acquire("job", slow(canResume), turn.signal, undefined, () => turn.abort(TURN_OVER));
    await expect(fetching).rejects.toBe(TURN_OVER);
    // What is left is put aside once the transfer has stopped.
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await oneTurn(true);
  await oneTurn(true);
  await oneTurn(false);
  const held = await cache.acquire(
    "job",
    async (path, _signal, _tell, { part }) => {
      seen.push([path, part.received]);
      await writeFile(path, "film");
    },
    never,
  );
  held.release();
  const [first] = seen.map(([path]) => path);
  expect(seen.map(([, received]) => received)).toEqual([0, 5, 10, 0]);
  expect(seen.map(([path]) => path === first)).toEqual([true, true, true, false]);
});

it("stops a slow transfer for those only whose turn is over", async () => {
  const turn = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const fetchTo: FetchTo = async (path) => {
    await promise;
    await writeFile(path, "film");
  };
  const [one, other] = [cache.acquire("job", fetchTo, turn.signal), cache.acquire("job", fetchTo, never)];
  turn.abort(TURN_OVER);
  await expect(one).rejects.toBe(TURN_OVER);
  resolve();
  expect(await readFile((await other).path, "utf8")).toBe("film");
});
