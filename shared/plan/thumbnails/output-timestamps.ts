// The timestamps of an image output, which count from the start of the clip if its job has a clip of the input.
import { clipLength } from "../../job/clip.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import type { Result } from "../../result.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { clipStart } from "../source/trim.ts";
import { chooseTimestamps, type SamplingInterval, type TrackLength } from "./thumbnail-timestamps.ts";

type Selected = Pick<ImageOutput, "selection" | "sprite" | "clip">;

/** Timestamps of an output in this track, in time order. With a clip, they count from its start. */
export function outputTimestamps(output: Selected, track: VideoTrack): Result<readonly SamplingInterval[]> {
  return chooseTimestamps(output.selection, clippedLength(output, track), output.sprite !== null);
}

/** The length of a track within the clip, on the clip's timeline. */
export function clippedLength({ clip }: Pick<ImageOutput, "clip">, track: VideoTrack): TrackLength {
  if (!clip) return track;
  const fromMs = clipStart(clip, track);
  const startMs = Math.max(0, track.startMs - fromMs);
  const endMs = clipLength({ ...clip, startMs: fromMs }, track.endMs);
  const isTrimmed =
    clip.endMs !== null && track.endMs !== null && clip.endMs < track.endMs && track.lengthFrom !== "estimate";
  return {
    startMs,
    durationMs: endMs === null ? null : Math.max(0, endMs - startMs),
    lengthFrom: isTrimmed ? "stream" : track.lengthFrom,
  };
}

/** The timestamps on the source's timeline. The frame at the end of the clip is not part of the clip. */
export function inSource(
  intervals: readonly SamplingInterval[],
  { clip }: Pick<ImageOutput, "clip">,
  track: VideoTrack,
): readonly SamplingInterval[] {
  if (!clip) return intervals;
  const fromMs = clipStart(clip, track);
  const lastMs = (clip.endMs ?? Number.POSITIVE_INFINITY) - 1;
  return intervals.map(({ firstMs, ...rest }) => ({ ...rest, firstMs: Math.min(fromMs + firstMs, lastMs) }));
}
