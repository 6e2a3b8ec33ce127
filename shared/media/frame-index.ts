// The list of all frames of a film: by it a film is cut into chunks, each frame in exactly one of them.
import * as z from "zod";

export type FrameIndex = {
  /** A tick lasts `num / den` seconds. */
  readonly timeBase: { readonly num: number; readonly den: number };
  /**
   * When each frame is shown, in ticks: ascending, no two the same. Zero is where the file begins (ffprobe's `start_time`
   * of the format), which is `startUs` on the file's own clock. ffmpeg has the same times with `-copyts -itsoffset` and
   * minus `startUs`. `-start_at_zero` means something else for transport streams: where the tracks begin that a run uses.
   */
  readonly ticks: Float64Array;
  /** Where the last frame ends, in ticks. */
  readonly endTicks: number;
  /** Size of each frame as it is coded in the source. */
  readonly bytes: Uint32Array;
  /** Ascending indices of frames at which decoding can begin; the first frame is always one. */
  readonly keyframes: Uint32Array;
  readonly startUs: number;
};

/** A place where the film may be cut: between a frame and the one before it. */
export type PossibleSplitPoint = {
  /** Of the first frame behind the cut. */
  readonly index: number;
  /** Half-way between the two frames, so that no rounding moves one of them over the cut. */
  readonly splitUs: number;
  /** When the first frame behind the cut is shown. */
  readonly frameUs: number;
  /** Index of the last keyframe that is shown no later than the first frame behind the cut. */
  readonly keyframe: number;
  /** Coded size of all frames before the cut. */
  readonly bytes: number;
};

/** A timestamp this much before a line of a grid counts as on it: containers round timestamps to milliseconds. In seconds. */
export const ROUNDING_SECONDS = 0.0005;

/** Frames that are nearer than this to each other are not cut apart: ffmpeg's options have whole µs. */
const NEAREST_US = 20;

/** A time of the ledger in µs, not rounded. */
export const ticksToUs = ({ timeBase }: Pick<FrameIndex, "timeBase">, ticks: number): number =>
  (ticks * timeBase.num * 1e6) / timeBase.den;

/** The longest time from one keyframe to the next, or to the film's end, in ms. */
export function longestGopMs(ledger: FrameIndex): number {
  const { ticks, keyframes, endTicks } = ledger;
  const begins = Array.from(keyframes, (index) => ticks[index] ?? 0);
  const longest = begins.reduce((most, begin, at) => Math.max(most, (begins[at + 1] ?? endTicks) - begin), 0);
  return ticksToUs(ledger, longest) / 1000;
}

/**
 * At most one cut for each line of a grid that is anchored at the first frame, with a line every `everyMs`: before the first
 * frame at or behind the line, as keyframes of outputs are placed.
 */
export function possibleSplitPoints(ledger: FrameIndex, everyMs: number): PossibleSplitPoint[] {
  const cuts: PossibleSplitPoint[] = [];
  const startUs = ticksToUs(ledger, ledger.ticks[0] ?? 0);
  let bytes = ledger.bytes[0] ?? 0;
  let keyframe = 0;
  let cell = 0;
  for (let index = 1; index < ledger.ticks.length; index++) {
    if (ledger.keyframes[keyframe + 1] === index) keyframe += 1;
    const frameUs = ticksToUs(ledger, ledger.ticks[index] ?? 0);
    const beforeUs = ticksToUs(ledger, ledger.ticks[index - 1] ?? 0);
    const here = Math.floor((frameUs - startUs + ROUNDING_SECONDS * 1e6) / (everyMs * 1000));
    if (here > cell && frameUs - beforeUs >= NEAREST_US) {
      const splitUs = Math.round((beforeUs + frameUs) / 2);
      cuts.push({ index, splitUs, frameUs: Math.round(frameUs), keyframe: ledger.keyframes[keyframe] ?? 0, bytes });
      cell = here;
    }
    bytes += ledger.bytes[index] ?? 0;
  }
  return cuts;
}

const Step = z.int().min(0);
/** At 2 s apart this is a film of 11 hours. */
export const MAX_SPLIT_POINTS = 20_000;

/**
 * Cuts as they travel in a report, some 30 bytes of JSON each: how far `index`, `splitUs` and `bytes` are beyond the cut
 * before, how far `frameUs` is beyond `splitUs`, and how far `keyframe` is before `index`.
 */
export const PackedSplitPoints = z.array(z.tuple([Step, z.int(), Step, Step, Step])).max(MAX_SPLIT_POINTS);
export type PackedSplitPoints = z.infer<typeof PackedSplitPoints>;

const BEFORE_ALL = { index: 0, splitUs: 0, bytes: 0 };

export function packSplitPoints(cuts: readonly PossibleSplitPoint[]): PackedSplitPoints {
  return cuts.map(({ index, splitUs, frameUs, keyframe, bytes }, at) => {
    const before = cuts[at - 1] ?? BEFORE_ALL;
    return [index - before.index, splitUs - before.splitUs, frameUs - splitUs, index - keyframe, bytes - before.bytes];
  });
}

export function unpackSplitPoints(packed: PackedSplitPoints): PossibleSplitPoint[] {
  let before = BEFORE_ALL;
  return packed.map(([frames, us, frameLag, keyframeLag, bytes]) => {
    before = { index: before.index + frames, splitUs: before.splitUs + us, bytes: before.bytes + bytes };
    return { ...before, frameUs: before.splitUs + frameLag, keyframe: before.index - keyframeLag };
  });
}
