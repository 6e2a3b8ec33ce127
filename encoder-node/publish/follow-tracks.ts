// Follows the tracks of a stream while ffmpeg writes them, and uploads each segment as soon as it is complete.
import { setTimeout as sleep } from "node:timers/promises";
import { mapLimited } from "../async/in-parallel.ts";
import type { StreamFile, StreamStorage } from "./stream-storage.ts";
import type { TrackFeed } from "./track-feed.ts";

export interface Following {
  /** Aborts when a track cannot be read. */
  readonly broken: AbortSignal;
  /** Reads the remaining segments after ffmpeg has ended. Rejects with the first error since the start. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

/** Interval of polls for new segments. A new segment appears every few seconds, and a poll reads a few headers. */
const POLL_MS = 500;
/** Tracks that are polled at the same time: the first poll also runs ffprobe. */
const PARALLEL = 4;

/**
 * Follows until `finish` or `stop` is called, `signal` aborts, or the storage fails, which makes the rest useless.
 * Until then, calls `onPolled` after each look at all tracks.
 */
export function followTracks(
  feeds: readonly TrackFeed[],
  storage: StreamStorage,
  signal: AbortSignal,
  onPolled: () => void,
): Following {
  const halt = new AbortController();
  const either = AbortSignal.any([signal, halt.signal]);
  const broken = new AbortController();
  let failure: { error: unknown } | null = null;

  /** When this rejects, no file is being read anymore, so the caller can close the files. */
  const poll = async (ended: boolean): Promise<void> => {
    const errors: unknown[] = [];
    const files: StreamFile[][] = feeds.map(() => []);
    await mapLimited(feeds, PARALLEL, async (feed, at) => {
      try {
        files[at] = await feed.poll(ended);
      } catch (error) {
        errors.push(error);
      }
    });
    storage.add(interleave(files));
    if (errors.length > 0) throw errors[0];
  };
  const follow = async (): Promise<void> => {
    while (!either.aborted && !storage.hasFailed) {
      await poll(false);
      onPolled();
      await sleep(POLL_MS, undefined, { signal: either }).catch(() => undefined);
    }
  };
  const following = follow().catch((error: unknown) => {
    failure = { error };
    broken.abort();
  });
  const stop = async (): Promise<void> => {
    halt.abort();
    await following;
    await Promise.all(feeds.map((feed) => feed.close().catch(() => undefined)));
  };

  return {
    broken: broken.signal,
    async finish() {
      halt.abort();
      await following;
      try {
        if (failure) throw failure.error;
        if (!storage.hasFailed) await poll(true);
      } finally {
        await stop();
      }
    },
    stop,
  };
}

/**
 * Orders the files: the first file of each track, then the second file of each track, and so on. When a whole chunk was
 * joined, its first segments can then be played before its last segments are stored.
 */
function interleave(tracks: readonly (readonly StreamFile[])[]): StreamFile[] {
  const longest = Math.max(0, ...tracks.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => tracks.flatMap((files) => files[at] ?? [])).flat();
}
