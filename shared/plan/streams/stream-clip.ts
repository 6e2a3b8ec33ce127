// The part of the source that a stream shows if its job has a clip of the input.

import type { HttpStreamOutput, VideoOutput } from "../../job/output-spec.ts";
import { fraction } from "../../media/media-probe.ts";
import type { SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { clipStart, NO_TRIM, type Trim, trimOf } from "../source/trim.ts";

/** Start and length of all renditions: they start with a frame of the rendition with the fewest. */
export function renditionPart(
  { clip, variants }: Pick<HttpStreamOutput, "clip" | "variants">,
  track: VideoTrack | null,
): Pick<VideoOutput, "offsetMs" | "durationMs" | "clip"> {
  if (!clip) return { offsetMs: 0, durationMs: null };
  const offsetMs = track ? clipStart(clip, track, slowestRate(variants, track)) : clip.startMs;
  return { clip, offsetMs, durationMs: clip.endMs === null ? null : clip.endMs - offsetMs };
}

/** The part of a stream. All its renditions are read from the same time. */
export function streamTrim(spec: HttpStreamOutput, source: SourceTracks): Trim {
  if (!spec.clip) return NO_TRIM;
  const part = renditionPart(spec, source.video);
  const rates = new Set(spec.variants.flatMap(({ video }) => (video ? [video.fps] : [])));
  const fps = source.video ? slowestRate(spec.variants, source.video) : null;
  const { burn, overlays } = spec;
  const drawings = { ...(burn ? { burn } : {}), ...(overlays ? { overlays } : {}) };
  const trim = trimOf({ ...part, video: rates.size > 0 ? { fps } : null, ...drawings }, source);
  const { audioTracks } = spec;
  // Frames of different rates are counted from the start, and other files are read from theirs.
  const hasOwnTimes =
    typeof audioTracks === "object" && audioTracks.some(({ url, offsetMs }) => url !== null || offsetMs !== 0);
  return rates.size > 1 || hasOwnTimes ? { ...trim, seekMs: 0 } : trim;
}

/** The requested rate of the rendition with the fewest frames; null: the rate of the source. */
function slowestRate(variants: HttpStreamOutput["variants"], track: VideoTrack): string | null {
  const rates = variants.flatMap(({ video }) => (video ? [video.fps] : []));
  const perSecond = (fps: string | null): number => fraction(fps ?? undefined) ?? track.fps ?? Number.POSITIVE_INFINITY;
  return rates.toSorted((a, b) => perSecond(a) - perSecond(b))[0] ?? null;
}
