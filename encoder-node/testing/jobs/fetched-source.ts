// Support for fetch tests: a clip, a response that serves it, and a fetch that compares the result with it.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { type Fetch, fetchSource } from "../../source/fetch/fetch-source.ts";

export const CLIP = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2_654_435_761) >>> 11));
export const VERSION: Record<string, string> = { etag: '"v1"' };

/** The folder of `useFetchFolder`. */
export let folder: string;

/** Gives the tests of a file a folder to fetch into. */
export function useFetchFolder(): void {
  const ofFile = fileFolder();
  beforeAll(() => {
    folder = ofFile;
  });
}

export const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };

export async function fetchTo(
  url: string,
  options: Partial<Fetch> = {},
): Promise<{ sizeBytes: number; same: boolean }> {
  const destination = join(folder, "input");
  const signal = new AbortController().signal;
  const limits = { allow: "loopback", maxBytes: 10_000_000, signal, timeouts: QUICK } as const;
  const { sizeBytes } = await fetchSource({ url, destination, ...limits, ...options });
  return { sizeBytes, same: (await readFile(destination)).equals(CLIP) };
}
export const WHOLE = { sizeBytes: CLIP.length, same: true };

export type SendOptions = { headers?: Record<string, string>; bytes?: Buffer; dropAfter?: number };

/** Serves the clip with support for ranges. The connection breaks after `dropAfter` bytes. */
export function sendClip(request: IncomingMessage, response: ServerResponse, options: SendOptions = {}): void {
  const { headers = VERSION, bytes = CLIP, dropAfter = Number.POSITIVE_INFINITY } = options;
  const sameVersion = request.headers["if-range"] === (headers.etag ?? headers["last-modified"]);
  const from = sameVersion ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
  const range = from > 0 ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { ...headers, ...range, "content-length": bytes.length - from });
  if (dropAfter > bytes.length - from) return void response.end(bytes.subarray(from));
  response.write(bytes.subarray(from, from + dropAfter), () => setTimeout(() => response.destroy(), 20));
}
