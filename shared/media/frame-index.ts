// List of all frames of a source, used to split the source into chunks.
import * as z from "zod";

export type FrameIndex = {
  /** A tick lasts `num / den` seconds. */
  readonly timeBase: { readonly num: number; readonly den: number };
  /**
   * The presentation timestamp of each frame in ticks: ascending, all different. Zero is the start of the file
   * (ffprobe's `start_time` of the format), which is `startUs` on the clock of the file. ffmpeg uses the same
   * timestamps with `-copyts
   * -itsoffset` and minus `startUs`. For transport streams, `-start_at_zero` is different: the start of the used
   * tracks.
   */
  readonly ticks: Float64Array;
  /** End of the last frame, in ticks. */
  readonly endTicks: number;
  /** Coded size of each frame in the source. */
  readonly bytes: Uint32Array;
  /** Ascending indices of the frames at which decoding can start; always includes the first frame. */
  readonly keyframes: Uint32Array;
  readonly startUs: number;
};

/** A point where the source may be split: between a frame and its predecessor. */
export type PossibleSplitPoint = {
  /** Index of the first frame after the split point. */
  readonly index: number;
  /** Midway between the two frames, so that rounding moves neither of them across the split point. */
  readonly splitUs: number;
  /** Timestamp of the first frame after the split point. */
  readonly frameUs: number;
  /** Index of the last keyframe at or before the first frame after the split point. */
  readonly keyframe: number;
  /** Coded size of all frames before the split point. */
  readonly bytes: number;
};

/**
 * A timestamp this close before a grid line counts as on the line, because containers round timestamps to milliseconds.
 * In seconds.
 */
export const ROUNDING_SECONDS = 0.0005;

/** Frames closer than this are not separated, because ffmpeg's options are in whole µs. */
const MIN_DISTANCE_US = 20;

/** Returns a timestamp of the index in µs, not rounded. */
export const ticksToUs = ({ timeBase }: Pick<FrameIndex, "timeBase">, ticks: number): number =>
  (ticks * timeBase.num * 1e6) / timeBase.den;

/** Returns the longest time between keyframes, or from the last keyframe to the end, in ms. */
export function longestGopMs(frames: FrameIndex): number {
  const { ticks, keyframes, endTicks } = frames;
  const begins = Array.from(keyframes, (index) => ticks[index] ?? 0);
  const longest = begins.reduce((most, begin, at) => Math.max(most, (begins[at + 1] ?? endTicks) - begin), 0);
  return ticksToUs(frames, longest) / 1000;
}

/**
 * Returns at most a single split point per interval of `everyMs`, counted from the first frame. It lies before the
 * first frame at or after the start of the interval, where outputs have keyframes.
 */
export function possibleSplitPoints(frames: FrameIndex, everyMs: number): PossibleSplitPoint[] {
  const points: PossibleSplitPoint[] = [];
  const startUs = ticksToUs(frames, frames.ticks[0] ?? 0);
  let bytes = frames.bytes[0] ?? 0;
  let keyframe = 0;
  let interval = 0;
  for (let index = 1; index < frames.ticks.length; index++) {
    if (frames.keyframes[keyframe + 1] === index) keyframe += 1;
    const frameUs = ticksToUs(frames, frames.ticks[index] ?? 0);
    const beforeUs = ticksToUs(frames, frames.ticks[index - 1] ?? 0);
    const here = Math.floor((frameUs - startUs + ROUNDING_SECONDS * 1e6) / (everyMs * 1000));
    if (here > interval && frameUs - beforeUs >= MIN_DISTANCE_US) {
      const splitUs = Math.round((beforeUs + frameUs) / 2);
      points.push({ index, splitUs, frameUs: Math.round(frameUs), keyframe: frames.keyframes[keyframe] ?? 0, bytes });
      interval = here;
    }
    bytes += frames.bytes[index] ?? 0;
  }
  return points;
}

const Step = z.int().min(0);
/** Enough for 11 hours at a split point every 2 s. */
export const MAX_SPLIT_POINTS = 20_000;

/**
 * Split points in reports, about 30 bytes of JSON each: the differences of `index`, `splitUs` and `bytes` from the
 * previous split point, of `frameUs` from `splitUs`, and of `keyframe` from `index`.
 */
export const PackedSplitPoints = z.array(z.tuple([Step, z.int(), Step, Step, Step])).max(MAX_SPLIT_POINTS);
export type PackedSplitPoints = z.infer<typeof PackedSplitPoints>;

const BEFORE_ALL = { index: 0, splitUs: 0, bytes: 0 };

export function packSplitPoints(points: readonly PossibleSplitPoint[]): PackedSplitPoints {
  return points.map(({ index, splitUs, frameUs, keyframe, bytes }, at) => {
    const before = points[at - 1] ?? BEFORE_ALL;
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
