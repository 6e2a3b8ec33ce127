// The bit rates that playlists declare for a track, measured from its segments.

import type { PackagedTrack } from "../codecs/segment.ts";
import type { TextSpan } from "../text/subtitle-segments.ts";
import { type Span, spanSeconds } from "./spans.ts";

/** The measured rates of a track, in bits per second. */
export type Bandwidth = { readonly peak: number; readonly average: number };

/** The target duration of all video and audio playlists of a package (RFC 8216 §6.2.4). */
export const targetSeconds = (tracks: readonly PackagedTrack[]): number =>
  longest(tracks.flatMap(({ segments, timescale }) => segments.map((segment) => spanSeconds(segment, timescale))));

/** The target duration of text playlists, which may differ in playlists of type VOD (ibid.). */
export const textTargetSeconds = (texts: readonly TextSpan[]): number =>
  longest(texts.map(({ startMs, endMs }) => (endMs - startMs) / 1000));

/** In whole seconds, as players compare it (RFC 8216 §4.3.3.1). */
const longest = (seconds: readonly number[]): number =>
  seconds.reduce((most, length) => Math.max(most, Math.round(length)), 1);

/**
 * The bit rates of consecutive spans. The peak is the highest rate of any contiguous set that lasts between 0.5 and 1.5
 * target durations (RFC 8216 §4.1). If the track is too short for such a set, the peak is the average.
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
  // Not `Math.max(...peaks)`: a long video has more keyframes than a call may have arguments.
  return { average, peak: peaks.reduce((most, peak) => Math.max(most, peak), 0) || average };
}

/** Players interpret 0 as unknown. */
const rate = (bits: number, seconds: number): number => (seconds > 0 ? Math.max(1, Math.ceil(bits / seconds)) : 1);
