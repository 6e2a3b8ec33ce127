// Steps by single frames.

/** For media whose frame rate nobody knows. */
const USUAL_FRAME_SECONDS = 1 / 25;

/**
 * Where to seek to show the next frame (1), the one before (-1), or the same one exactly (0): the middle of that frame,
 * so that no rounding shows its neighbor. `shown`: the timestamp of the frame that is shown, in seconds.
 */
export const stepTarget = (shown: number, frameSeconds: number, step: -1 | 0 | 1): number =>
  Math.max(0, shown + (step + 0.5) * frameSeconds);

/** The duration of a frame, from the rate if it is known, or from timestamps that were seen. */
export function frameSecondsOf(frameRate: number | null, seen: readonly number[]): number {
  if (frameRate !== null) return 1 / frameRate;
  const sorted = [...new Set(seen)].toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, index) => time - (sorted[index] ?? 0));
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1];
  return usual !== undefined && usual > 0.004 && usual < 1 ? usual : USUAL_FRAME_SECONDS;
}
