// What tests of fetching share: a film, a server's way of sending it, and a fetch that compares.
import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fetch, fetchSource } from "../source/fetch/fetch-source.ts";

export const FILM = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2_654_435_761) >>> 11));
export const VERSION: Record<string, string> = { etag: '"v1"' };

export const folder = mkdtempSync(join(tmpdir(), "copra-fetch-"));
export const removeFetched = (): Promise<void> => rm(folder, { recursive: true, force: true });

export const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };

export async function fetchTo(
  url: string,
  options: Partial<Fetch> = {},
): Promise<{ sizeBytes: number; same: boolean }> {
  const destination = join(folder, "input");
  const signal = new AbortController().signal;
  const limits = { allow: "loopback", maxBytes: 10_000_000, signal, patience: QUICK } as const;
  const { sizeBytes } = await fetchSource({ url, destination, ...limits, ...options });
  return { sizeBytes, same: (await readFile(destination)).equals(FILM) };
}
export const WHOLE = { sizeBytes: FILM.length, same: true };

export type Part = { headers?: Record<string, string>; film?: Buffer; dropAfter?: number };

/** Sends the film as a server that knows ranges does; the connection breaks after `dropAfter` bytes. */
export function sendFilm(request: IncomingMessage, response: ServerResponse, part: Part = {}): void {
  const { headers = VERSION, film = FILM, dropAfter = Number.POSITIVE_INFINITY } = part;
  const sameVersion = request.headers["if-range"] === (headers.etag ?? headers["last-modified"]);
  const from = sameVersion ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
  const range = from > 0 ? { "content-range": `bytes ${from}-${film.length - 1}/${film.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { ...headers, ...range, "content-length": film.length - from });
  if (dropAfter > film.length - from) return void response.end(film.subarray(from));
  response.write(film.subarray(from, from + dropAfter), () => setTimeout(() => response.destroy(), 20));
}
