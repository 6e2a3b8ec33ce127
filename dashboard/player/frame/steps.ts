// Steps by single frames.

/** For media with an unknown frame rate. */
const USUAL_FRAME_SECONDS = 1 / 25;

/**
 * The seek target for the next frame (1), the previous frame (-1), or exactly the same frame (0). The target is the
 * middle of the frame, so that no rounding shows its neighbor. `timestamp`: of the visible frame, in seconds.
 */
export const stepTarget = (timestamp: number, frameSeconds: number, step: -1 | 0 | 1): number =>
  Math.max(0, timestamp + (step + 0.5) * frameSeconds);

/** The duration of a frame, from the frame rate if known, or from observed timestamps. */
export function frameSecondsOf(frameRate: number | null, seen: readonly number[]): number {
  if (frameRate !== null) return 1 / frameRate;
  const sorted = [...new Set(seen)].toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, index) => time - (sorted[index] ?? 0));
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1];
  return usual !== undefined && usual > 0.004 && usual < 1 ? usual : USUAL_FRAME_SECONDS;
}
