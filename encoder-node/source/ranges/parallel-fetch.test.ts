import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { parseRange } from "#shared/network/http-headers.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { closeServers, noise, serve } from "../../testing/range-server.ts";
import { type Fetch, newResumeState } from "../fetch/fetch-options.ts";
import { fetchInParallel, isWorthMore } from "./parallel-fetch.ts";

const CLIP = noise(28_000_000);
/** Bytes per tick and connection: the whole clip over a single connection would take several seconds. */
const TICK_BYTES = 150_000;
const TICK_MS = 25;
const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };

const folder = fileFolder();
afterEach(closeServers);

/** Serves ranges of the clip slowly, each connection on its own. `refuses` may respond in place of the server. */
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
  return { ...server, mostOpen: () => most };
}

async function sendSlowly(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const range = parseRange(request.headers.range, CLIP.length);
  const { start, end } = range && range !== "beyond" ? range : { start: 0, end: CLIP.length - 1 };
  const part = range ? { "content-range": `bytes ${start}-${end}/${CLIP.length}` } : { "accept-ranges": "bytes" };
  response.writeHead(range ? 206 : 200, { etag: '"v1"', "content-length": end - start + 1, ...part });
  for (let at = start; at <= end && !response.destroyed; at += TICK_BYTES) {
    response.write(CLIP.subarray(at, Math.min(at + TICK_BYTES, end + 1)));
    await sleep(TICK_MS);
  }
  response.end();
}

let files = 0;
async function fetchFrom(url: string, { destination = join(folder, `clip-${++files}`), ...more }: Partial<Fetch> = {}) {
  const prefixes: number[] = [];
  const signal = new AbortController().signal;
  const onProgress = (received: number): void => void prefixes.push(received);
  const fetch = {
    url,
    destination,
    allow: "loopback",
    maxBytes: 1e9,
    signal,
    timeouts: QUICK,
    onProgress,
    ...more,
  } as const;
  const sizeBytes = await fetchInParallel(fetch, 200).then(
    (result) => result.sizeBytes,
    (reason: unknown) => reason,
  );
  return { sizeBytes, destination, prefixes, isSame: CLIP.equals(await readFile(destination)) };
}

it("fetches a file over several connections, from its start", async () => {
  const { origin, mostOpen, seen } = await slowServer(() => false);
  const { sizeBytes, isSame, prefixes } = await fetchFrom(origin);
  expect({ sizeBytes, isSame }).toEqual({ sizeBytes: CLIP.length, isSame: true });
  expect(mostOpen()).toBeGreaterThanOrEqual(2);
  expect(prefixes).toEqual(prefixes.toSorted((a, b) => a - b));
  for (const { headers } of seen.slice(2)) expect(headers["if-range"]).toBe('"v1"');
});

it.each([
  ["429", (_: IncomingMessage, response: ServerResponse) => response.writeHead(429, { "retry-after": "0" }).end()],
  ["a closed connection", (request: IncomingMessage) => request.socket.destroy()],
])("goes on over one connection when the host responds with %s to a second one", async (_what, refuse) => {
  const { origin } = await slowServer((request, response, open) => {
    const isRefused = open > 1 && request.headers.range !== "bytes=0-0";
    if (isRefused) refuse(request, response);
    return isRefused;
  });
  const { sizeBytes, isSame } = await fetchFrom(origin);
  expect({ sizeBytes, isSame }).toEqual({ sizeBytes: CLIP.length, isSame: true });
});

it("keeps its connection when the URL allows only a single request", async () => {
  let requests = 0;
  const { origin } = await slowServer((_, response) => {
    requests += 1;
    if (requests > 1) response.writeHead(403).end();
    return requests > 1;
  });
  expect(await fetchFrom(origin)).toMatchObject({ sizeBytes: CLIP.length, isSame: true });
  expect(requests).toBe(2);
});

it("resumes a stopped fetch", async () => {
  const stop = new AbortController();
  const firstOf = ({ headers }: IncomingMessage): number => Number(/^bytes=(\d+)/.exec(headers.range ?? "")?.[1] ?? 0);
  // The last part does not arrive before the stop.
  const { origin } = await slowServer((request) => !stop.signal.aborted && firstOf(request) > 20_000_000);
  const resume = newResumeState();
  const onProgress = (received: number): void => {
    if (received > 12_000_000) stop.abort("stopped");
  };
  const stopped = await fetchFrom(origin, { signal: stop.signal, resume, onProgress });
  expect(stopped).toMatchObject({ sizeBytes: "stopped", isSame: false });
  expect(resume.received).toBeGreaterThan(12_000_000);
  const resumed = await fetchFrom(origin, { resume, destination: stopped.destination });
  expect(resumed).toMatchObject({ sizeBytes: CLIP.length, isSame: true });
  expect(Math.min(...resumed.prefixes)).toBeGreaterThan(12_000_000);
});

const MB = 1_000_000;

it.each([
  ["slow and large", { bytesPerSecond: 2 * MB, remainingBytes: 100 * MB }, true],
  ["nearly done", { bytesPerSecond: 2 * MB, remainingBytes: 5 * MB }, false],
  ["fast", { bytesPerSecond: 100 * MB, remainingBytes: 200 * MB }, false],
  ["silent", { bytesPerSecond: 0, remainingBytes: 100 * MB }, true],
  [
    "slow, with a URL for twice its time",
    { bytesPerSecond: 2 * MB, remainingBytes: 60 * MB, validForMs: 61_000 },
    true,
  ],
  ["slow, with a URL for less", { bytesPerSecond: 2 * MB, remainingBytes: 60 * MB, validForMs: 59_000 }, false],
])("more connections for a transfer that is %s", (_what, transfer, worth) => {
  expect(isWorthMore({ validForMs: Number.POSITIVE_INFINITY, ...transfer })).toBe(worth);
});
