// The part of the input that a job encodes (`input.start`, `input.end`), as if it were the whole input.
import * as z from "zod";

/** Times of the input, in ms. `endMs` null: the end of the input. */
export const Clip = z.object({ startMs: z.number(), endMs: z.number().nullable() });
export type Clip = z.infer<typeof Clip>;

/** The part of an output that shows all of the clip. */
export const clippedPart = (clip: Clip | undefined): { offsetMs: number; durationMs: number | null } => ({
  offsetMs: clip?.startMs ?? 0,
  durationMs: clip?.endMs == null ? null : clip.endMs - clip.startMs,
});

/** Length of the clip of an input of this length; null if both are unknown. */
export function clipLength(clip: Clip | undefined, durationMs: number | null): number | null {
  if (!clip) return durationMs;
  const ends = [durationMs, clip.endMs].filter((ms) => ms !== null);
  return ends.length === 0 ? null : Math.max(0, Math.min(...ends) - clip.startMs);
}
