// Which parts of a video are encoded to find its rate factor.

/** A part of the source, in ms from the start of the file. */
export type SampleWindow = {
  readonly fromMs: number;
  readonly lengthMs: number;
  /** How much earlier it may begin, at a keyframe: not before the part, nor within the sample before. */
  readonly earlierMs: number;
};

/** The samples' share of the video: with three probes, encoding and measuring them costs a fifth of the encode. */
const SHARE = 0.05;
/** Shorter samples say little: an encoder begins each with a keyframe, and looks ahead two seconds. */
const LEAST_MS = 1500;
const MOST_MS = 16_000;
const ONE_MS = 1000;

/** Samples of about a second, evenly spread over a part of the source. */
export function sampleWindows({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): SampleWindow[] {
  const lengthMs = Math.max(0, toMs - fromMs);
  const totalMs = Math.min(lengthMs, MOST_MS, Math.max(LEAST_MS, lengthMs * SHARE));
  const count = Math.max(1, Math.floor(totalMs / ONE_MS));
  const each = totalMs / count;
  const restMs = (lengthMs - totalMs) / count;
  return Array.from({ length: count }, (_, at) => ({
    fromMs: fromMs + ((at + 0.5) * lengthMs) / count - each / 2,
    lengthMs: each,
    earlierMs: at === 0 ? restMs / 2 : restMs,
  }));
}
