// How long the chunks of a film are, so that all of it is done soonest.

export type ChunkLengthOptions = {
  readonly lengthMs: number;
  /** Bounds of a chunk. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Chunks are whole multiples of this. */
  readonly segmentMs: number;
  /** How many tasks can be done at the same time. */
  readonly slots: number;
  /** What encoding the sound costs, as the length of film whose pictures cost as much. */
  readonly audioMs: number;
};

/** What a chunk costs beyond its pictures: it is led in by some seconds that are decoded only. */
const LEAD_MS = 1000;

/** So many chunks are looked at. A longer video has many rounds for every slot anyway, in which lengths differ little. */
const MOST_CHUNKS = 2_000;
/** Lengths that are tried; within the bounds of a chunk (choose-cuts.ts) there are 19 at the most. */
const MOST_CANDIDATES = 64;

/** The fleets that a length is tried on, by the speed of one of its slots, and how much each counts. */
const FLEETS = [
  { speed: 1, weight: 2 },
  { speed: 0.7, weight: 1 },
] as const;
/** Which slot that is: not the first, which has the sound, but one that is given a chunk early. */
const OTHER_SLOT = 1;

/**
 * The length of all chunks but the last, which is the rest. Every length in question is tried: the sound and then the
 * chunks in their order are given to whichever slot is free first, once to equal slots and once beside a slow one. The
 * length that ends soonest is taken, of equals the longest. Short ones make up for slow nodes, few ones for what each costs.
 * The work is bounded, whatever the wish is.
 */
export function chooseChunkLength(wish: ChunkLengthOptions): number {
  const { leastMs, mostMs, segmentMs } = wish;
  const first = Math.ceil(leastMs / segmentMs) * segmentMs;
  if (first > mostMs) return Math.max(segmentMs, Math.floor(mostMs / segmentMs) * segmentMs);
  const candidates = Array.from(
    { length: Math.min(MOST_CANDIDATES, Math.floor((mostMs - first) / segmentMs) + 1) },
    (_, at) => first + at * segmentMs,
  );
  const costs = candidates.map((candidate) => costOf(candidate, wish));
  return candidates[costs.lastIndexOf(Math.min(...costs))] ?? first;
}

function costOf(chunkMs: number, { lengthMs, leastMs, slots, audioMs }: ChunkLengthOptions): number {
  const shownMs = Math.min(lengthMs, MOST_CHUNKS * leastMs);
  const lengths = chunksOf(shownMs, chunkMs, leastMs).map((each) => each + LEAD_MS);
  const tasks = audioMs > 0 ? [audioMs, ...lengths] : lengths;
  return FLEETS.reduce((sum, { speed, weight }) => sum + weight * endOf(tasks, slots, speed), 0);
}

/** A rest that is too short for a chunk of its own goes along with the one before it. */
function chunksOf(lengthMs: number, chunkMs: number, leastMs: number): number[] {
  const whole = Math.floor(lengthMs / chunkMs);
  const restMs = lengthMs - whole * chunkMs;
  const lengths = Array.from({ length: whole }, () => chunkMs);
  if (restMs >= leastMs / 2 || whole === 0) return [...lengths, restMs];
  return [...lengths.slice(1), chunkMs + restMs];
}

/** When the last of these tasks is done, each begun by the slot that is free first. One slot is of another speed. */
function endOf(tasks: readonly number[], slots: number, speed: number): number {
  const heap = Array.from({ length: Math.min(slots, tasks.length) }, (_, slot) => ({ slot, freeAt: 0 }));
  let end = 0;
  for (const task of tasks) {
    const next = heap[0];
    if (!next) break;
    next.freeAt += task / (next.slot === OTHER_SLOT ? speed : 1);
    end = Math.max(end, next.freeAt);
    sink(heap);
  }
  return end;
}

type Slot = { readonly slot: number; freeAt: number };

const isBefore = (one: Slot, other: Slot): boolean =>
  one.freeAt < other.freeAt || (one.freeAt === other.freeAt && one.slot < other.slot);

/** Restores the order of a binary heap, in which the slot that is free first is the first, after the first has changed. */
function sink(heap: Slot[]): void {
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const [here, one, other] = [heap[at], heap[left], heap[right]];
    if (!here || !one) return;
    const [child, place] = other && isBefore(other, one) ? [other, right] : [one, left];
    if (!isBefore(child, here)) return;
    heap[at] = child;
    heap[place] = here;
    at = place;
  }
}
