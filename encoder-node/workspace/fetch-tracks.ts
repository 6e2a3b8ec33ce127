// Fetches the chunks of tracks from the scratch bucket, a few at a time, and hands them over in their order.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import { mapLimitedOrAbort } from "../async/in-parallel.ts";
import { createFile } from "../run-files/open-file.ts";
import { writeAt } from "../source/fetch/source-disk.ts";
import { SourceFetcher } from "../source/fetch/source-fetcher.ts";
import type { SourcePiece } from "../source/fetch/source-pieces.ts";
import { type ScratchDeps, scratchUrls } from "./scratch.ts";

/** Chunks that are fetched, or wait for their predecessor, at the same time. The folder has as many files. */
const PARALLEL = 4;

/** Names a track within the job. */
export const trackKey = ({ output, track }: Pick<ScratchTrack, "output" | "track">): string => `${output}-${track}`;

export type FetchChunks = {
  readonly chunks: readonly ScratchTrack[];
  /** The folder for files until they are handed over. */
  readonly folder: string;
  /** Receives each chunk as a file, which is removed afterwards. */
  readonly onChunk: (chunk: ScratchTrack, path: string) => Promise<void>;
  /** Receives the total number of fetched bytes of all chunks. */
  readonly onBytes?: (bytes: number) => void;
};

/**
 * Hands over the chunks of each track in the order of `chunks`, and the chunks of different tracks concurrently. Throws
 * as `onChunk` does, AppError `node_failed` when a chunk cannot be read as it was reported, and the signal's reason.
 */
export async function fetchChunks(
  { chunks, folder, onChunk, onBytes = () => undefined }: FetchChunks,
  deps: ScratchDeps,
): Promise<void> {
  if (chunks.length === 0) return;
  const names = chunks.map(({ name }) => name);
  const pieces = async (): Promise<SourcePiece[]> => {
    const urls = await scratchUrls(names, deps);
    return chunks.map(({ sizeBytes }, at) => ({ url: urls[at] ?? "", sizeBytes }));
  };
  const source = new SourceFetcher({ pieces: await pieces(), refresh: pieces, allow: deps.service.allow });
  const predecessors = new Map<string, Promise<void>>();
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    onBytes(bytes);
  };
  try {
    await mapLimitedOrAbort(placesOf(chunks, folder), PARALLEL, deps.signal, (place, _, signal) => {
      const key = trackKey(place.chunk);
      const predecessor = predecessors.get(key);
      const handOver = async (): Promise<void> => {
        await fetchChunk(source, place, count, signal);
        await predecessor;
        signal.throwIfAborted();
        await onChunk(place.chunk, place.path);
        await rm(place.path, { force: true });
      };
      const done = handOver();
      predecessors.set(key, done);
      return done;
    });
  } finally {
    await source.close();
  }
}

type Place = {
  readonly chunk: ScratchTrack;
  /** Position of the first byte within all chunks together. */
  readonly start: number;
  readonly path: string;
};

function placesOf(chunks: readonly ScratchTrack[], folder: string): Place[] {
  let before = 0;
  return chunks.map((chunk, at) => {
    const start = before;
    before += chunk.sizeBytes;
    return { chunk, start, path: join(folder, `chunk-${at}.mp4`) };
  });
}

async function fetchChunk(
  source: SourceFetcher,
  { chunk, start, path }: Place,
  count: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const file = await createFile(path);
  try {
    const range = { start, end: start + chunk.sizeBytes - 1 };
    const write = async (bytes: Buffer, position: number): Promise<void> => {
      await writeAt(file, bytes, position - start);
      count(bytes.length);
    };
    await source.fetch(range, { write }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = `A chunk cannot be read from the scratch storage: ${messageOf(error)}`;
    throw new AppError("node_failed", message, { cause: error });
  } finally {
    await file.close();
  }
}
