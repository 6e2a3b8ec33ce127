// Reads a track once for several variants. Each variant gets all of the track's segments.
import type { ReadySegment, TrackReader } from "./track-reader.ts";

/** Returns `uses` readers of the same track. A segment is released when all of them have released it. */
export function sharedReaders(reader: TrackReader, uses: number): TrackReader[] {
  const segments: ReadySegment[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let open = uses;
  /** The track's reader accepts only a single call at a time. */
  const serialize = <Value>(call: () => Promise<Value>): Promise<Value> => {
    const mine = last.then(call);
    last = mine.catch(() => undefined);
    return mine;
  };
  const shared = (segment: ReadySegment): ReadySegment => {
    let left = uses;
    const release = async (): Promise<void> => {
      left -= 1;
      if (left === 0) await segment.release();
    };
    return { ...segment, release };
  };
  const newReader = (): TrackReader => {
    let taken = 0;
    return {
      header: () => serialize(() => reader.header()),
      next: (ended) =>
        serialize(async () => {
          segments.push(...(await reader.next(ended)).map(shared));
          const added = segments.slice(taken);
          taken = segments.length;
          return added;
        }),
      async close() {
        open -= 1;
        if (open === 0) await serialize(() => reader.close());
      },
    };
  };
  return Array.from({ length: uses }, newReader);
}
