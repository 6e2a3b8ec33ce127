// Downloads the files of a job's outputs.
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError, EXIT } from "../exit.ts";
import { hasReferences, referencesOf } from "./playlists.ts";
import { localPath, withoutQuery } from "./result-paths.ts";

/** Gets a stored object. Rejects if there is no connection. */
export type Fetcher = (url: string, signal: AbortSignal) => Promise<Response>;

export type Download = {
  /** URLs of outputs. `optional`: URLs of files that may not exist. */
  readonly urls: readonly string[];
  readonly optional: readonly string[];
  readonly folder: string;
  /** URL of the storage folder at which local paths start. Null: files get the last part of their URL as name. */
  readonly base: string | null;
  /** Prefix of object names that local files drop. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  readonly fetcher: Fetcher;
  /** Called after each file with the number of saved files. */
  readonly onFile?: (file: SavedFile, files: number) => void;
};

export type SavedFile = { readonly path: string; readonly url: string; readonly bytes: number };

const PARALLEL = 6;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;

/** Downloads the files and the files that their playlists refer to. Throws CommandError. */
export async function downloadAll({ urls, optional, ...options }: Download): Promise<SavedFile[]> {
  const { base, folder, prefix, signal, fetcher, onFile } = options;
  const saved: SavedFile[] = [];
  const origins = new Set(urls.map((url) => new URL(url).origin));
  // Files elsewhere are no outputs of this job.
  const isOurs = (url: string): boolean => (base === null ? origins.has(new URL(url).origin) : url.startsWith(base));
  const pathOf = (url: string): string => join(folder, localPath(url, base, prefix));
  const paths = uniquePaths(pathOf);
  const waiting = paths.add([...urls, ...optional]);
  const failed = new AbortController();
  const all = AbortSignal.any([signal, failed.signal]);
  const work = async (): Promise<void> => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      const path = pathOf(url);
      const text = await save(url, path, { fetcher, signal: all, isOptional: optional.includes(url) });
      if (text === null) continue;
      waiting.push(...paths.add(text.references.filter(isOurs)));
      const file = { path, url, bytes: text.bytes };
      saved.push(file);
      onFile?.(file, saved.length);
    }
  };
  // Start workers again: a playlist may add files after other workers ran out of work and ended.
  while (waiting.length > 0) {
    await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, work)).catch((error: unknown) => {
      failed.abort();
      throw error;
    });
  }
  return saved;
}

/**
 * Tracks the paths of local files. `add` returns the new URLs, and throws if two files would overwrite each other. URLs
 * that differ only in their query name the same object, for example with and without a signature.
 */
function uniquePaths(pathOf: (url: string) => string): { add(urls: readonly string[]): string[] } {
  const urlByPath = new Map<string, string>();
  const isNew = (url: string): boolean => {
    const path = pathOf(url);
    const plain = withoutQuery(url);
    const other = urlByPath.get(path);
    if (other === undefined) urlByPath.set(path, plain);
    else if (other !== plain) {
      const [a, b] = [new URL(other).pathname, new URL(plain).pathname];
      throw new CommandError(EXIT.service, `${a} and ${b} would be saved as the same file: ${path}`);
    }
    return other === undefined;
  };
  return { add: (urls) => urls.filter(isNew) };
}

type SaveOptions = { readonly fetcher: Fetcher; readonly signal: AbortSignal; readonly isOptional: boolean };

/** Returns null if an optional file does not exist. */
async function save(
  url: string,
  path: string,
  { fetcher, signal, isOptional }: SaveOptions,
): Promise<{ bytes: number; references: string[] } | null> {
  for (let attempt = 1; ; attempt++) {
    const problem = await saveOnce(url, path, fetcher, signal, isOptional);
    if (typeof problem !== "string") return problem;
    signal.throwIfAborted();
    if (attempt === TRIES || /^HTTP 4(?!08|29)/.test(problem)) {
      throw new CommandError(EXIT.service, `${new URL(url).pathname} cannot be downloaded: ${problem}`);
    }
    await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
  }
}

/** Returns a text if the download failed: the reason. */
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
    const text = hasReferences(url) ? await response.text() : null;
    // No await before the pipeline: until then, errors of the file have no listener.
    const file = createWriteStream(draft);
    if (text === null)
      await pipeline(Readable.fromWeb(response.body as import("node:stream/web").ReadableStream), file);
    else await pipeline(Readable.from([text]), file);
    await rename(draft, path);
    return { bytes: file.bytesWritten, references: text === null ? [] : referencesOf(url, text) };
  } catch (error) {
    // If the draft cannot be removed, it was never created. The first error is the reason.
    await rm(draft, { force: true }).catch(() => undefined);
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    return cause instanceof Error ? cause.message : message;
  }
}
