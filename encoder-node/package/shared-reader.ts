// One track that several variants hold: it is read once, and each of them gets all of its segments.
import type { ReadySegment, TrackReader } from "./track-reader.ts";

/** `uses` readers of the same track. A segment's bytes are released when all of them have released it. */
export function sharedReaders(reader: TrackReader, uses: number): TrackReader[] {
  const segments: ReadySegment[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let open = uses;
  /** The track's own reader takes one call at a time. */
  const inTurn = <Value>(call: () => Promise<Value>): Promise<Value> => {
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
  const use = (): TrackReader => {
    let taken = 0;
    return {
      header: () => inTurn(() => reader.header()),
      next: (ended) =>
        inTurn(async () => {
          segments.push(...(await reader.next(ended)).map(shared));
          const fresh = segments.slice(taken);
          taken = segments.length;
          return fresh;
        }),
      async close() {
        open -= 1;
        if (open === 0) await inTurn(() => reader.close());
      },
    };
  };
  return Array.from({ length: uses }, use);
}
