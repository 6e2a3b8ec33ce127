// Follows the tracks of a stream while ffmpeg writes them, and hands each segment to the storage as soon as it is there.
import { setTimeout as sleep } from "node:timers/promises";
import { inParallel } from "../async/in-parallel.ts";
import type { StreamStorage } from "./stream-storage.ts";
import type { TrackFeed } from "./track-feed.ts";

export interface Following {
  /** Aborts when the tracks cannot be followed any further. */
  readonly broken: AbortSignal;
  /** Reads what is left when ffmpeg has ended. Rejects with what went wrong on the way. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

/** How often new segments are looked for. They come every few seconds, and a look reads a few headers. */
const POLL_MS = 500;
/** Tracks that are looked at at the same time: the first look is ffprobe's as well. */
const PARALLEL = 4;

/** Until told to finish or to stop, until `signal` aborts, or until the storage has failed, when all the rest is of no use. */
export function followTracks(feeds: readonly TrackFeed[], storage: StreamStorage, signal: AbortSignal): Following {
  const halt = new AbortController();
  const either = AbortSignal.any([signal, halt.signal]);
  const broken = new AbortController();
  let trouble: { error: unknown } | null = null;

  /** Nothing is read any more when this rejects: the caller closes the files. */
  const poll = async (ended: boolean): Promise<void> => {
    const errors: unknown[] = [];
    await inParallel(feeds, PARALLEL, async (feed) => {
      try {
        storage.add(await feed.poll(ended));
      } catch (error) {
        errors.push(error);
      }
    });
    if (errors.length > 0) throw errors[0];
  };
  const follow = async (): Promise<void> => {
    while (!either.aborted && !storage.failed()) {
      await poll(false);
      await sleep(POLL_MS, undefined, { signal: either }).catch(() => undefined);
    }
  };
  const following = follow().catch((error: unknown) => {
    trouble = { error };
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
        if (trouble) throw trouble.error;
        if (!storage.failed()) await poll(true);
      } finally {
        await stop();
      }
    },
    stop,
  };
}
