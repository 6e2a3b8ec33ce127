// Chooses the chunk length that completes the whole video soonest.

export type ChunkLengthOptions = {
  readonly lengthMs: number;
  /** Limits for the length of a chunk. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Chunks are whole multiples of this length. */
  readonly segmentMs: number;
  /** Number of tasks that can run at the same time. */
  readonly slots: number;
  /** Length of video that takes as long to encode as the audio. */
  readonly audioMs: number;
  /** The first chunks are played while the others are encoded. False by default. */
  readonly isPlayedEarly?: boolean;
};

/** Cost of a chunk in addition to its frames: the preroll, which is only decoded. */
const PREROLL_MS = 1000;

/**
 * The calculation covers this many chunks. A longer video keeps each slot busy many times, so chunk lengths hardly
 * matter.
 */
const MOST_CHUNKS = 2_000;
/** Upper bound for the lengths that are tried. The limits of choose-split-points.ts allow at most 19. */
const MOST_CANDIDATES = 64;

/** Factor by which a video may be completed later if that makes its first chunk shorter. */
const FOR_EARLY_PLAY = 1.05;

/**
 * Cases for each length: the speed of a slot, the share of its estimate that the audio takes, and the weight of the
 * result. The estimate is for stereo at 48 kHz.
 */
const CASES = [
  { speed: 1, audio: 1, weight: 1.75 },
  // Decides between lengths if the audio takes longer than any chunk.
  { speed: 1, audio: 0.5, weight: 0.25 },
  { speed: 0.7, audio: 1, weight: 1 },
] as const;
/** Index of the slot with another speed. The first slot gets the audio; this slot gets a chunk early. */
const OTHER_SLOT = 1;

/**
 * Returns the length of all chunks except the last. Tries every possible length. Assigns the audio and then the chunks,
 * in order, to the next free slot. Repeats this with equal slots, with one slow slot, and with less audio.
 * Returns the length with the earliest end, and the longest of equal lengths. Short chunks compensate for slow nodes;
 * few chunks save the cost per chunk. For a video that is played early, returns the shortest length that ends hardly
 * later. The work is limited for all options.
 */
export function chooseChunkLength(options: ChunkLengthOptions): number {
  const { leastMs, mostMs, segmentMs } = options;
  const first = Math.ceil(leastMs / segmentMs) * segmentMs;
  if (first > mostMs) return Math.max(segmentMs, Math.floor(mostMs / segmentMs) * segmentMs);
  const candidates = Array.from(
    { length: Math.min(MOST_CANDIDATES, Math.floor((mostMs - first) / segmentMs) + 1) },
    (_, at) => first + at * segmentMs,
  );
  const costs = candidates.map((candidate) => costOf(candidate, options));
  const best = Math.min(...costs);
  const shortest = costs.findIndex((cost) => cost <= FOR_EARLY_PLAY * best);
  return candidates[options.isPlayedEarly ? shortest : costs.lastIndexOf(best)] ?? first;
}

function costOf(chunkMs: number, { lengthMs, leastMs, slots, audioMs }: ChunkLengthOptions): number {
  const coveredMs = Math.min(lengthMs, MOST_CHUNKS * leastMs);
  const lengths = chunksOf(coveredMs, chunkMs, leastMs).map((each) => each + PREROLL_MS);
  return CASES.reduce((sum, { speed, audio, weight }) => {
    const tasks = audioMs > 0 ? [audio * audioMs, ...lengths] : lengths;
    return sum + weight * endOf(tasks, slots, speed);
  }, 0);
}

/** A remainder that is too short becomes part of the chunk before it. */
function chunksOf(lengthMs: number, chunkMs: number, leastMs: number): number[] {
  const count = Math.floor(lengthMs / chunkMs);
  const remainderMs = lengthMs - count * chunkMs;
  const lengths = Array.from({ length: count }, () => chunkMs);
  if (remainderMs >= leastMs / 2 || count === 0) return [...lengths, remainderMs];
  return [...lengths.slice(1), chunkMs + remainderMs];
}

/** End of the last task if each task goes to the next free slot. `OTHER_SLOT` has speed `speed`. */
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

const isBefore = (a: Slot, b: Slot): boolean => a.freeAt < b.freeAt || (a.freeAt === b.freeAt && a.slot < b.slot);

/** Restores the order of a binary heap after its first slot has changed. The first slot is the next free slot. */
function sink(heap: Slot[]): void {
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const [here, first, second] = [heap[at], heap[left], heap[right]];
    if (!here || !first) return;
    const [child, place] = second && isBefore(second, first) ? [second, right] : [first, left];
    if (!isBefore(child, here)) return;
    heap[at] = child;
    heap[place] = here;
    at = place;
  }
}
