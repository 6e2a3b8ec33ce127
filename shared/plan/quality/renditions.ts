// The measured video tracks of an output.
import { hasTracks, type OutputSpec } from "../../job/output-spec.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { gridSeconds } from "../command/keyframe-grid.ts";
import { isEncodedVideo } from "../outputs/plan-file.ts";
import { asFile, planStreamParts } from "../outputs/plan-stream-tracks.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import type { Rendition } from "./compare-video.ts";

/** Names the video of a file. Videos of a stream have the names of its renditions. */
const VIDEO_TRACK = "video";

export type MeasuredTrack = Rendition & { readonly track: string };

/** Tracks that are compared with the source; none without a quality report. */
export function measuredTracks(
  spec: OutputSpec,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
): MeasuredTrack[] {
  const { video: track } = source;
  if (!track || !hasTracks(spec) || !spec.measuresQuality) return [];
  if (spec.type === "video") {
    const { video } = spec;
    return video && isEncodedVideo(video) ? [{ track: VIDEO_TRACK, output: spec, video }] : [];
  }
  const parts = planStreamParts({ spec, source, capabilities });
  if (!parts.ok) return [];
  return parts.value.videos.map(({ track: { name }, video }) => ({
    track: name,
    output: asFile(spec, video, track),
    video,
    gridSeconds: gridSeconds(spec.segmentDurationMs),
  }));
}
