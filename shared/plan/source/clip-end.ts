// Compares a clip of the input with the length of the input.
import type { Failure } from "../../errors.ts";
import type { Clip } from "../../job/clip.ts";
import type { SourceTracks } from "./source-tracks.ts";

/** End of the longest track in ms; null if a track has no certain end. */
function sourceEnd({ video, audio }: SourceTracks): number | null {
  const ends = [video, audio].flatMap((track) => track ?? []);
  if (ends.some(({ endMs, lengthFrom }) => endMs === null || lengthFrom === "estimate")) return null;
  return ends.length === 0 ? null : Math.max(...ends.map(({ endMs }) => endMs ?? 0));
}

/** The failure of an input that ends before its clip starts; null for others. */
export function clipFailure(clip: Clip | undefined, tracks: SourceTracks): Failure | null {
  const endMs = sourceEnd(tracks);
  if (!clip || endMs === null || clip.startMs < endMs) return null;
  const message = `\`input.start\` is ${clip.startMs / 1000} s, but the input ends at ${endMs / 1000} s.`;
  return { code: "input_clip_beyond_end", message };
}

/** Stated ends are rounded, and audio and video end at different times. */
const ROUNDED_MS = 50;

/** Note for outputs of a clip that ends after the input; null for others. */
export function clipNote(clip: Clip | undefined, tracks: SourceTracks): string | null {
  const endMs = sourceEnd(tracks);
  if (clip?.endMs == null || endMs === null || clip.endMs <= endMs + ROUNDED_MS) return null;
  return `\`input.end\` is ${clip.endMs / 1000} s, but the input ends at ${endMs / 1000} s.`;
}
