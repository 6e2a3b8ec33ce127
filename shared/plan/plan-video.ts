// One video file: H.264 and AAC in mp4, or either alone.

import type { AudioTrackSpec, VideoTrackSpec } from "../format/format-spec.ts";
import { fraction } from "../media-probe.ts";
import type { VideoOutput } from "../output-spec.ts";
import { X264_PRESET, x264RateArguments } from "./encoder-table.ts";
import { type FittedFrame, fitFrame, type Size } from "./fit-frame.ts";
import { type PlanResult, refuse } from "./output-plan.ts";
import { sizeRefusal } from "./picture-limits.ts";
import { seconds } from "./progress-ticks.ts";
import type { AudioTrack, SourceTracks, Track, VideoTrack } from "./source-tracks.ts";

/** Time base for frames that keep their own times: MPEG's clock, finer than any frame distance, exact for whole ms. */
const OWN_TIMES_BASE = "1/90000";
/** Assumed for sources that do not say; it only steers x264's level and rate control. */
const ASSUMED_FPS = 30;

/**
 * Plans one video output. A source without sound makes a silent file; a missing picture, or missing sound where nothing
 * else was asked for, is refused, and so is a picture that is too large.
 */
export function planVideo(spec: VideoOutput, source: SourceTracks): PlanResult {
  if (spec.video && !source.video) return refuse("input_has_no_video");
  if (!spec.video && !source.audio) return refuse("input_has_no_audio");
  const label = `v${spec.index}`;
  const audio = soundTrack(spec, source);
  const picture = spec.video && source.video ? planPicture(spec.video, source.video) : null;
  const tooLarge = picture && source.video ? sizeRefusal(source.video, picture.frame) : null;
  if (tooLarge) return { ok: false, failure: tooLarge };
  const file = `${spec.index}.mp4`;
  const tracks: Track[] = [...(spec.video && source.video ? [source.video] : []), ...(audio ? [audio] : [])];
  const argv = [
    ...(picture ? ["-map", `[${label}]`] : []),
    ...(audio ? ["-map", `0:${audio.streamIndex}`] : []),
    ...(picture?.argv ?? []),
    ...(spec.audio && audio ? soundArguments(spec.audio, audio) : []),
    ...(spec.durationMs === null ? [] : ["-t", seconds(spec.durationMs)]),
    // Chapters would become a text track of their own. Tags of the file are kept.
    ...["-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4", file],
  ];
  return {
    ok: true,
    plan: {
      planned: {
        output: spec.index,
        files: [file],
        expectedDurationMs: lastEnd(spec, tracks.filter(isExact)),
        holds: [...(picture ? ["video" as const] : []), ...(audio ? ["audio" as const] : [])],
      },
      branch: picture ? { label, filters: picture.filters } : null,
      argv,
      expectedFrames: spec.video && source.video ? frameCount(spec, spec.video, source.video) : null,
      endMs: lastEnd(spec, tracks),
    },
  };
}

/** Sound that begins after the cut is as good as none, unless nothing else was asked for. */
function soundTrack(spec: VideoOutput, { audio }: SourceTracks): AudioTrack | null {
  const beyond = audio !== null && spec.durationMs !== null && audio.startMs >= spec.durationMs;
  return spec.audio && !(beyond && spec.video) ? audio : null;
}

type PlannedPicture = { frame: Size; filters: string[]; argv: string[] };

function planPicture(spec: VideoTrackSpec, track: VideoTrack): PlannedPicture {
  const size = { width: track.facts.displayWidth, height: track.facts.displayHeight };
  const fitted = fitFrame(size, spec.size, 2);
  return {
    frame: fitted.frame,
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

/** What the AAC encoder takes without knowing which loudspeaker a channel is for. */
const MAX_CHANNELS = 8;

function soundArguments(spec: AudioTrackSpec, track: AudioTrack): string[] {
  const channels = spec.channels ?? ((track.channels ?? 0) > MAX_CHANNELS ? "stereo" : null);
  return [
    ...["-c:a", "aac", "-b:a", `${spec.bitrateKbps}k`],
    ...(spec.sampleRateHz === null ? [] : ["-ar", String(spec.sampleRateHz)]),
    ...(channels === null ? [] : ["-ac", channels === "mono" ? "1" : "2"]),
  ];
}

const isExact = (track: Track): boolean => track.lengthFrom === "stream";

/** The longest track that goes into the file says how long it is, unless it is cut before. */
function lastEnd(spec: VideoOutput, tracks: readonly Track[]): number | null {
  const ends = tracks.map((track) => track.endMs).filter((end) => end !== null);
  const endMs = ends.length === 0 ? null : Math.max(...ends);
  // A cut beyond an end that nobody knows promises nothing.
  return endMs === null || spec.durationMs === null ? endMs : Math.min(endMs, spec.durationMs);
}

function frameCount(output: VideoOutput, spec: VideoTrackSpec, track: VideoTrack): number | null {
  const cut = output.durationMs !== null && (track.endMs === null || output.durationMs < track.endMs);
  if (!cut && spec.fps === null && track.frames !== null) return track.frames;
  // An estimate may be far too short, and a run that makes many more frames than expected is ended.
  if (!cut && track.lengthFrom === "estimate") return null;
  const fps = fraction(spec.fps ?? undefined) ?? track.fps;
  const durationMs = cut ? output.durationMs : track.durationMs;
  return fps === null || durationMs === null ? null : Math.round((durationMs / 1000) * fps);
}
