// Decides whether this node splits the videos of a task. Pure.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { unchunkableReason } from "#shared/plan/chunkable.ts";
import type { FfmpegCapabilities } from "#shared/plan/command/capabilities.ts";
import { isEncodedVideo } from "#shared/plan/plan-file.ts";
import { planStreamParts } from "#shared/plan/plan-stream-tracks.ts";
import { planVideoTrack } from "#shared/plan/plan-video-track.ts";
import type { SourceTracks } from "#shared/plan/source/source-tracks.ts";
import { NO_TRIM } from "#shared/plan/source/trim.ts";
import { LOCAL_LENGTHS } from "./local-chunks.ts";
import { type EncodedTrack, type MachineShare, parallelRuns } from "./parallel-runs.ts";

/**
 * How many runs at a time encode these outputs in chunks; 1: they are encoded in one run. All of them must allow
 * chunks: others would need a decode of their own. A stream that is played while it is encoded begins sooner in one
 * run.
 */
export function chooseRuns(
  outputs: readonly OutputSpec[],
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  machine: MachineShare,
): number {
  const { video } = source;
  if (!video || outputs.length === 0) return 1;
  const lengthMs = (video.endMs ?? Number.POSITIVE_INFINITY) - video.startMs;
  const isLive = outputs.some((spec) => spec.type === "httpstream" && spec.livePlaylist);
  if (isLive || lengthMs <= LOCAL_LENGTHS.longerThanMs) return 1;
  if (outputs.some((spec) => unchunkableReason(spec, source, capabilities) !== null)) return 1;
  const tracks = outputs.flatMap((spec) => tracksOf(spec, source, capabilities));
  const { codedWidth: width, codedHeight: height } = video.facts;
  const mostChunks = Math.floor(lengthMs / LOCAL_LENGTHS.shortestMs);
  return parallelRuns({ width, height, mostChunks }, tracks, machine);
}

/** The video tracks that are encoded for an output that allows chunks. */
function tracksOf(spec: OutputSpec, source: SourceTracks, capabilities: FfmpegCapabilities): EncodedTrack[] {
  if (spec.type === "httpstream") {
    const parts = planStreamParts({ spec, source, capabilities });
    const videos = parts.ok ? parts.value.videos : [];
    return videos.flatMap(({ encoder, track }) => (track.video ? [{ encoder, ...track.video.frame }] : []));
  }
  const { video: track } = source;
  if (spec.type === "image" || !track || !spec.video || !isEncodedVideo(spec.video)) return [];
  const planned = planVideoTrack({ output: spec, video: spec.video, track, trim: NO_TRIM, capabilities });
  return planned.ok ? [{ encoder: planned.value.encoder, ...planned.value.frame }] : [];
}
