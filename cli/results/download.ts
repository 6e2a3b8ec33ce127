// Downloads the files of a job's outputs.
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError, EXIT } from "../exit.ts";
import { hasReferences, referencesOf } from "./playlists.ts";
import { localPath } from "./result-paths.ts";

/** Gets a stored object; rejects when there is no connection. */
export type Fetcher = (url: string, signal: AbortSignal) => Promise<Response>;

export type Download = {
  /** The URLs of outputs, and of other files if they exist. */
  readonly urls: readonly string[];
  readonly optional: readonly string[];
  readonly folder: string;
  /** URL of the folder in the storage to which local paths are relative. */
  readonly base: string | null;
  /** Beginning of the objects' names that local files do not have. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  readonly fetcher: Fetcher;
  /** Called after each file, with what there is so far. */
  readonly onFile?: (file: SavedFile, files: number) => void;
};

export type SavedFile = { readonly path: string; readonly url: string; readonly bytes: number };

const PARALLEL = 6;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;

/** Downloads the files, and those that their playlists refer to. Throws CommandError. */
export async function downloadAll({ urls, optional, ...options }: Download): Promise<SavedFile[]> {
  const { base, folder, prefix, signal, fetcher, onFile } = options;
  const saved: SavedFile[] = [];
  const seen = new Set<string>();
  const waiting: string[] = [];
  const add = (more: readonly string[]): void => {
    for (const url of more) {
      // What is elsewhere is not an output of this job.
      const isOurs = base === null || url.startsWith(base) || urls.includes(url);
      if (!isOurs || seen.has(url)) continue;
      seen.add(url);
      waiting.push(url);
    }
  };
  const failed = new AbortController();
  const all = AbortSignal.any([signal, failed.signal]);
  const work = async (): Promise<void> => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      const path = join(folder, localPath(url, base, prefix));
      const text = await save(url, path, { fetcher, signal: all, isOptional: optional.includes(url) });
      if (text === null) continue;
      add(text.references);
      const file = { path, url, bytes: text.bytes };
      saved.push(file);
      onFile?.(file, saved.length);
    }
  };
  add([...urls, ...optional]);
  // Playlists name further files, which workers that have run out of work would miss.
  while (waiting.length > 0) {
    await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, work)).catch((error: unknown) => {
      failed.abort();
      throw error;
    });
  }
  return saved;
}

type SaveOptions = { readonly fetcher: Fetcher; readonly signal: AbortSignal; readonly isOptional: boolean };

/** Null if an optional file does not exist. */
async function save(
  url: string,
  path: string,
  { fetcher, signal, isOptional }: SaveOptions,
): Promise<{ bytes: number; references: string[] } | null> {
  for (let attempt = 1; ; attempt++) {
    const problem = await saveOnce(url, path, fetcher, signal, isOptional);
    if (typeof problem !== "string") return problem;
    signal.throwIfAborted();
    if (attempt === TRIES || problem.startsWith("HTTP 4")) {
      throw new CommandError(EXIT.service, `${new URL(url).pathname} cannot be downloaded: ${problem}`);
    }
    await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
  }
}

/** A text is what went wrong. */
async function saveOnce(
  url: string,
  path: string,
  fetcher: Fetcher,
  signal: AbortSignal,
  isOptional: boolean,
): Promise<{ bytes: number; references: string[] } | string | null> {
  const draft = `${path}.part`;
  try {
    const response = await fetcher(url, signal);
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return isOptional && response.status === 404 ? null : `HTTP ${response.status}`;
    }
    await mkdir(dirname(path), { recursive: true });
    const file = createWriteStream(draft);
    const text = hasReferences(url) ? await response.text() : null;
    if (text === null)
      await pipeline(Readable.fromWeb(response.body as import("node:stream/web").ReadableStream), file);
    else await pipeline(Readable.from([text]), file);
    await rename(draft, path);
    return { bytes: file.bytesWritten, references: text === null ? [] : referencesOf(url, text) };
  } catch (error) {
    await rm(draft, { force: true });
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    return cause instanceof Error ? cause.message : message;
  }
}
