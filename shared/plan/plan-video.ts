// One video file: H.264 and AAC in mp4, or either alone.

import { fraction } from "../media-probe.ts";
import type { AudioTrackSpec, VideoOutput, VideoTrackSpec } from "../output-spec.ts";
import { X264_PRESET, x264RateArguments } from "./encoder-table.ts";
import { type FittedFrame, fitFrame } from "./fit-frame.ts";
import { type PlanResult, refuse } from "./output-plan.ts";
import { seconds } from "./progress-ticks.ts";
import type { SourceTracks, Track, VideoTrack } from "./source-tracks.ts";

/** Time base for frames that keep their own times: MPEG's clock, finer than any frame distance, exact for whole ms. */
const OWN_TIMES_BASE = "1/90000";
/** Assumed for sources that do not say; it only steers x264's level and rate control. */
const ASSUMED_FPS = 30;

/**
 * Plans one video output. A source without sound makes a silent file; a missing picture, or missing sound where nothing
 * else was asked for, is refused.
 */
export function planVideo(spec: VideoOutput, source: SourceTracks): PlanResult {
  if (spec.video && !source.video) return refuse("input_has_no_video");
  if (!spec.video && !source.audio) return refuse("input_has_no_audio");
  const label = `v${spec.index}`;
  const picture = spec.video && source.video ? planPicture(spec.video, source.video) : null;
  const sound = spec.audio && source.audio ? soundArguments(spec.audio) : [];
  const file = `${spec.index}.mp4`;
  const endMs = outputEnd(spec, source);
  const argv = [
    ...(picture ? ["-map", `[${label}]`] : []),
    ...(spec.audio && source.audio ? ["-map", `0:${source.audio.streamIndex}`] : []),
    ...(picture?.argv ?? []),
    ...sound,
    ...(spec.durationMs === null ? [] : ["-t", seconds(spec.durationMs)]),
    // Chapters would become a text track of their own. Tags of the file are kept.
    ...["-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4", file],
  ];
  return {
    ok: true,
    plan: {
      planned: { output: spec.index, files: [file], expectedDurationMs: endMs },
      branch: picture ? { label, filters: picture.filters } : null,
      argv,
      expectedFrames: spec.video && source.video ? frameCount(spec, spec.video, source.video) : null,
      endMs,
    },
  };
}

function planPicture(spec: VideoTrackSpec, track: VideoTrack): { filters: string[]; argv: string[] } {
  const size = { width: track.facts.displayWidth, height: track.facts.displayHeight };
  const fitted = fitFrame(size, spec.size, 2);
  return {
    filters: [...(spec.fps === null ? [] : [`fps=${spec.fps}`]), ...scaleFilters(fitted), "format=yuv420p"],
    argv: [
      ...["-c:v", "libx264", "-preset", X264_PRESET, ...x264RateArguments(spec.rate, fitted.picture)],
      ...timingArguments(spec, track),
    ],
  };
}

/** Rotation has happened before these: ffmpeg turns the picture upright where it enters the graph. */
function scaleFilters({ frame, picture, pad }: FittedFrame): string[] {
  return [
    `scale=${picture.width}:${picture.height}:flags=bicubic`,
    ...(pad ? [`pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`] : []),
    "setsar=1",
  ];
}

/**
 * `vfr` neither repeats frames over a gap nor fills up a late start, which the default of 5.1 does for mp4. With the
 * default time base (one tick per frame) a constant rate stays exact, also from containers that round to milliseconds.
 * Other sources get a fine base, and x264 the mean rate, because it would take its level from a nominal one like 1000.
 */
function timingArguments(spec: VideoTrackSpec, track: VideoTrack): string[] {
  if (spec.fps !== null || track.constantRate) return ["-fps_mode", "vfr"];
  const mean = Number((track.fps ?? ASSUMED_FPS).toFixed(3));
  return ["-fps_mode", "vfr", "-enc_time_base", OWN_TIMES_BASE, "-x264-params", `fps=${mean}`];
}

function soundArguments(spec: AudioTrackSpec): string[] {
  return [
    ...["-c:a", "aac", "-b:a", `${spec.bitrateKbps}k`],
    ...(spec.sampleRateHz === null ? [] : ["-ar", String(spec.sampleRateHz)]),
    ...(spec.channels === null ? [] : ["-ac", spec.channels === "mono" ? "1" : "2"]),
  ];
}

/** The longest track that goes into the file says how long it is, unless it is cut before. */
function outputEnd(spec: VideoOutput, source: SourceTracks): number | null {
  const tracks = [spec.video && source.video, spec.audio && source.audio].filter(
    (track): track is Track => track !== null,
  );
  const ends = tracks.map((track) => track.endMs).filter((end) => end !== null);
  const endMs = ends.length === 0 ? null : Math.max(...ends);
  // A cut beyond an end that nobody knows promises nothing.
  return endMs === null || spec.durationMs === null ? endMs : Math.min(endMs, spec.durationMs);
}

function frameCount(output: VideoOutput, spec: VideoTrackSpec, track: VideoTrack): number | null {
  const cut = output.durationMs !== null && (track.endMs === null || output.durationMs < track.endMs);
  if (!cut && spec.fps === null && track.frames !== null) return track.frames;
  const fps = fraction(spec.fps ?? undefined) ?? track.fps;
  const durationMs = cut ? output.durationMs : track.durationMs;
  return fps === null || durationMs === null ? null : Math.round((durationMs / 1000) * fps);
}
