// Time spans of a track, and their durations in playlists.
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack, Segment } from "../codecs/segment.ts";
import { segmentNumber } from "./package-files.ts";

/** A segment, or a keyframe and the time up to the next keyframe. In ticks of the track's timescale. */
export type Span = { readonly start: number; readonly duration: number; readonly sizeBytes: number };

/** A keyframe and the time up to the next keyframe, or to the end of the track. */
export type KeyframeSpan = Span & { readonly segment: number; readonly offset: number };

const MICROSECONDS = 1e6;

/**
 * The duration of a span in microseconds. Start and end are rounded instead of the duration, so that sums do not drift
 * from the media, however many segments there are.
 */
export function spanMicroseconds({ start, duration }: Pick<Span, "start" | "duration">, timescale: number): number {
  const at = (ticks: number): number => Math.round((ticks / timescale) * MICROSECONDS);
  return at(start + duration) - at(start);
}

export const spanSeconds = (span: Pick<Span, "start" | "duration">, timescale: number): number =>
  spanMicroseconds(span, timescale) / MICROSECONDS;

/** The end of a track on the output's timeline, in ms; 0 when it is empty. */
export function endMs({ segments, timescale }: Pick<PackagedTrack, "segments" | "timescale">): number {
  const last = segments.at(-1);
  return last ? ((last.start + last.duration) / timescale - STREAM_START_SECONDS) * 1000 : 0;
}

/** The end of the longest track, in ms. */
export const lastEndMs = (tracks: readonly PackagedTrack[]): number => Math.max(0, ...tracks.map(endMs));

/** The keyframes of a track in order of time, each with the number of its segment. */
export function keyframeSpans(segments: readonly Segment[]): KeyframeSpan[] {
  const last = segments.at(-1);
  const end = last ? last.start + last.duration : 0;
  const keyframes = segments.flatMap(({ keyframes }, at) =>
    keyframes.map((keyframe) => ({ ...keyframe, segment: segmentNumber(at) })),
  );
  return keyframes.map((keyframe, at) => ({
    ...keyframe,
    duration: (keyframes[at + 1]?.start ?? end) - keyframe.start,
  }));
}
