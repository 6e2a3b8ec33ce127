// Brings the parts of tracks from the scratch bucket to this node, a few at a time, and hands them on in their order.
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { ScratchTrack } from "#shared/protocol/chunking.ts";
import { allOrNone } from "../../async/in-parallel.ts";
import { type RangeReader, rangeReader, type SourcePiece } from "../../source/ranges/range-reader.ts";
import { scratchUrls } from "../../task/scratch.ts";
import type { TaskDeps } from "../../task/task-deps.ts";

/** Parts that are fetched, or wait for their turn, at the same time: so many files lie in the folder. */
const PARALLEL = 4;

/** Names a track within the job. */
export const trackKey = ({ output, track }: Pick<ScratchTrack, "output" | "track">): string => `${output}-${track}`;

export type PartsDeps = Pick<TaskDeps, "askScratch" | "storages" | "signal" | "allowPrivate">;

/**
 * Hands each part to `take` as a file, which is removed afterwards: parts of one track one after the other as they come in
 * `parts`, those of others meanwhile. `onBytes` is told how much has come of all. Throws what `take` throws, AppError
 * `node_failed` when a part cannot be had as it was announced, and the reason of the signal.
 */
export async function fetchParts(
  parts: readonly ScratchTrack[],
  folder: string,
  deps: PartsDeps,
  take: (part: ScratchTrack, path: string) => Promise<void>,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<void> {
  if (parts.length === 0) return;
  const pieces = async (): Promise<SourcePiece[]> => {
    const urls = await scratchUrls(
      parts.map(({ name }) => name),
      deps,
    );
    return parts.map(({ sizeBytes }, at) => ({ url: urls[at] ?? "", sizeBytes }));
  };
  const reader = rangeReader({ pieces: await pieces(), refresh: pieces, allow: deps.allowPrivate });
  const turns = new Map<string, Promise<void>>();
  let before = 0;
  const places = parts.map((part, at) => {
    const start = before;
    before += part.sizeBytes;
    return { part, start, path: join(folder, `part-${at}.mp4`) };
  });
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    onBytes(bytes);
  };
  try {
    await allOrNone(places, PARALLEL, deps.signal, (place, signal) => {
      const key = trackKey(place.part);
      const earlier = turns.get(key);
      const turn = (async (): Promise<void> => {
        await fetchPart(reader, place, count, signal);
        await earlier;
        signal.throwIfAborted();
        await take(place.part, place.path);
        await rm(place.path, { force: true });
      })();
      turns.set(key, turn);
      return turn;
    });
  } finally {
    await reader.close();
  }
}

type Place = { readonly part: ScratchTrack; readonly start: number; readonly path: string };

async function fetchPart(
  reader: RangeReader,
  { part, start, path }: Place,
  count: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    const range = { start, end: start + part.sizeBytes - 1 };
    const take = async (bytes: Buffer, position: number): Promise<void> => {
      for (let at = 0; at < bytes.length; ) {
        at += (await file.write(bytes, at, bytes.length - at, position - start + at)).bytesWritten;
      }
      count(bytes.length);
    };
    await reader.read(range, take, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new AppError("node_failed", `A part of the film cannot be read back: ${messageOf(error)}`, { cause: error });
  } finally {
    await file.close();
  }
}
