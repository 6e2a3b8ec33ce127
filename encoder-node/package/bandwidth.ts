// What playlists say about the bits of a track, measured from its segments.
import type { PackagedTrack } from "./segment.ts";
import { type Span, spanSeconds } from "./spans.ts";
import type { TextSpan } from "./text/subtitle-segments.ts";

/** The measured rates of a track, in bits per second. */
export type Bandwidth = { readonly peak: number; readonly average: number };

/** The target duration of pictures and sound: one value for all of a package (RFC 8216 §6.2.4). */
export const targetSeconds = (tracks: readonly PackagedTrack[]): number =>
  longest(tracks.flatMap(({ segments, timescale }) => segments.map((segment) => spanSeconds(segment, timescale))));

/** The target duration of text, which may be another when the playlist is of type VOD (ibid.). */
export const textTargetSeconds = (texts: readonly TextSpan[]): number =>
  longest(texts.map(({ startMs, endMs }) => (endMs - startMs) / 1000));

/** Rounded to whole seconds, as players compare it (RFC 8216 §4.3.3.1). */
const longest = (seconds: readonly number[]): number =>
  seconds.reduce((most, length) => Math.max(most, Math.round(length)), 1);

/**
 * The rates of these spans, which follow each other. The peak is that of the sets of neighbours that last between half and
 * one and a half target durations (RFC 8216 §4.1); the average, where a track is too short to have such a set.
 */
export function bandwidthOf(spans: readonly Span[], timescale: number, target: number): Bandwidth {
  const sized = spans.map((span) => ({ bits: span.sizeBytes * 8, seconds: spanSeconds(span, timescale) }));
  const average = rate(
    sized.reduce((sum, { bits }) => sum + bits, 0),
    sized.reduce((sum, { seconds }) => sum + seconds, 0),
  );
  const peaks = sized.map((_, first) => {
    let [bits, seconds, peak] = [0, 0, 0];
    for (let at = first; at < sized.length; at++) {
      bits += sized[at]?.bits ?? 0;
      seconds += sized[at]?.seconds ?? 0;
      if (seconds > target * 1.5) break;
      if (seconds >= target * 0.5) peak = Math.max(peak, rate(bits, seconds));
    }
    return peak;
  });
  // Not of `Math.max(...peaks)`: a long film has more keyframes than a call has arguments.
  return { average, peak: peaks.reduce((most, peak) => Math.max(most, peak), 0) || average };
}

/** Players take 0 for unknown. */
const rate = (bits: number, seconds: number): number => (seconds > 0 ? Math.max(1, Math.ceil(bits / seconds)) : 1);
