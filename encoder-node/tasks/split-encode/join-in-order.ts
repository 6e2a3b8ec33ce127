// Joins the tracks of chunks in time order, while other chunks are still encoded.
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { EncodedTrack } from "../chunk/store-tracks.ts";
import { type JoinedTrack, openJoinedTrack } from "../join/join-track.ts";

export interface OrderedJoin {
  /** Takes the tracks of the chunk with this number, and removes their files once they are joined. */
  add(chunk: number, tracks: readonly EncodedTrack[]): void;
  /** Resolves when all chunks that were added are joined. Rejects as `JoinedTrack.append` does. */
  finish(): Promise<void>;
  /** Closes the joined files, also after a failure. */
  close(): Promise<void>;
}

/** The joined tracks are written into `folder`, with their planned names; they only grow there. */
export function openOrderedJoin(folder: string): OrderedJoin {
  const joined = new Map<string, JoinedTrack>();
  const waiting = new Map<number, readonly EncodedTrack[]>();
  let next = 0;
  let joining = Promise.resolve();

  const opened = async (file: string): Promise<JoinedTrack> => {
    const track = await openJoinedTrack(join(folder, file), "video");
    joined.set(file, track);
    return track;
  };
  const append = async ({ path }: EncodedTrack): Promise<void> => {
    const file = basename(path);
    const track = joined.get(file) ?? (await opened(file));
    await track.append(path);
    await rm(path, { force: true });
  };
  const joinNext = async (): Promise<void> => {
    for (let tracks = waiting.get(next); tracks; tracks = waiting.get(next)) {
      waiting.delete(next);
      next += 1;
      for (const track of tracks) await append(track);
    }
  };
  return {
    add(chunk, tracks) {
      waiting.set(chunk, tracks);
      joining = joining.then(joinNext);
      // `finish` reports it.
      joining.catch(() => undefined);
    },
    finish: () => joining,
    async close() {
      await joining.catch(() => undefined);
      await Promise.all([...joined.values()].map((track) => track.close()));
    },
  };
}
