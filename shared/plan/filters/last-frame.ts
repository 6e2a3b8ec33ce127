// Shows the last frame of a video without a constant rate as long as its source does.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import { quoted } from "../command/filter-text.ts";
import type { AudioTrack, VideoTrack } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";
import type { FrameTiming } from "./frame-timing.ts";

export type HeldFrame = {
  /** Number of repetitions of the frame. */
  readonly repeats: number;
  /**
   * Filters that repeat the frame where its time ends. They come before all filters that look at neighboring frames.
   */
  readonly filters: readonly string[];
  readonly encoderArguments: readonly string[];
  /** Options of an output that has the last packet. They set the length of that packet, even if it is copied. */
  readonly lengthArguments: readonly string[];
};

const NOT_HELD: HeldFrame = { repeats: 0, filters: [], encoderArguments: [], lengthArguments: [] };

/**
 * By default the last frame lasts the mean distance of frames. A frame that lasts longer than this multiple is held.
 */
const LONG_FRAMES = 1.5;

/**
 * The last repetition comes at most this long before the end: players show a last frame without a length only briefly.
 */
const REPEATED_BEFORE_END_MS = 40;

/** Containers that have a time for each frame, but no duration. */
const WITHOUT_DURATIONS: ReadonlySet<TrackContainer> = new Set(["mpegts"]);
/** Codecs whose encoders reorder frames unless `-bf 0` is given. */
const REORDERING: ReadonlySet<VideoCodec> = new Set(["h264", "hevc"]);

export type HoldOptions = {
  readonly codec: VideoCodec;
  readonly container: TrackContainer;
  /** Streams are packaged as MPEG-TS as well. */
  readonly isStream: boolean;
  /** True if the encoded frames include the last frame. Only a single chunk has it. */
  readonly isLast: boolean;
  readonly timing: FrameTiming;
};

/** Returns the options that hold the last frame. Empty for a constant rate, which needs nothing. */
export function holdLastFrame({ lastFrame }: VideoTrack, trim: Trim, options: HoldOptions): HeldFrame {
  if (!lastFrame || (trim.endMs !== null && trim.endMs <= lastFrame.startMs)) return NOT_HELD;
  const { codec, container, isStream, isLast, timing } = options;
  const { startMs } = lastFrame;
  const endMs = Math.min(lastFrame.endMs, trim.endMs ?? Number.POSITIVE_INFINITY);
  const stepMs = 1000 / timing.fps;
  const isLong = endMs - startMs > LONG_FRAMES * stepMs;
  const repeats = isLong && (isStream || !timing.isVariable || WITHOUT_DURATIONS.has(container));
  const shortMs = Math.min(stepMs / 2, REPEATED_BEFORE_END_MS);
  // Filter `fps` fills the time up to the last frame, and leaves the frame itself out.
  const repeatedMs = timing.isVariable ? [endMs - 2 * shortMs, endMs - shortMs] : [endMs];
  const shownMs = repeats ? (repeatedMs.at(-1) ?? startMs) : startMs;
  const hasLength = timing.isVariable && !WITHOUT_DURATIONS.has(container);
  const fromSeek = (ms: number): number => ms - trim.seekMs;
  return {
    repeats: repeats && isLast ? repeatedMs.length : 0,
    // In all chunks: these filters hide the frame rate from encoders, which write it into headers.
    filters: repeats ? repeatFilters(repeatedMs.map(fromSeek), fromSeek(startMs)) : [],
    encoderArguments: isLong && hasLength && REORDERING.has(codec) ? ["-bf", "0"] : [],
    lengthArguments: hasLength && isLast ? lengthArguments(endMs - trim.startMs, shownMs - trim.startMs) : [],
  };
}

/**
 * Repeats the last frame at these times. `tpad` adds copies some time after the last frame. That time depends on the
 * version, so `setpts` sets the times of the copies. Without a stated duration, the last frame is assumed to last as
 * long as the frame before it. So there are two copies.
 */
const repeatFilters = (ms: readonly number[], lastMs: number): string[] => {
  const after = seconds(lastMs + 0.5);
  const [first = 0, second = first] = ms.map(seconds);
  const time = `if(gt(PREV_OUTT,${after}),${second},${first})/TB`;
  return [`tpad=stop=${ms.length}:stop_mode=clone`, `setpts=${quoted(`if(gt(T,${after}),${time},PTS)`)}`];
};

/**
 * Extends the packet that is written last. Its times are in another unit than the unit that ffmpeg 5.1 announces to
 * bitstream filters (TB). So the end is in proportion to the time of the last frame, which is the latest. `setts` sets
 * presentation times to decoding times unless they are named. ISO files add up durations in decoding order, which gives
 * the length only without reordering.
 */
function lengthArguments(endMs: number, lastMs: number): string[] {
  if (lastMs <= 0) return [];
  const missing = `round(ld(0)*${(endMs / lastMs).toFixed(12)})-PTS`;
  const duration = `st(0,max(ld(0),PTS))*0+if(eq(NEXT_DTS,NOPTS),${missing},DURATION)`;
  return ["-bsf:v", `setts=pts=PTS:dts=DTS:duration=${quoted(duration)}`];
}

/** Frames per second of a still image: enough for players to start anywhere, and cheap to encode. */
const STILL_FPS = 5;
/** Audio that ends less than this after the image needs no more frames. */
const SHORT_MS = 500;

/** Video of a stream. If it is a single frame, such as the cover of a song, it lasts as long as the audio. */
export function heldStill(video: VideoTrack, audio: AudioTrack | null): VideoTrack {
  const endMs = audio?.endMs ?? 0;
  const heldMs = endMs - video.startMs - 1000 / STILL_FPS;
  if (!video.isStill || endMs - (video.endMs ?? 0) < SHORT_MS || heldMs <= 0) return video;
  const durationMs = endMs - video.startMs;
  const rate = { fps: STILL_FPS, constantRate: true, isSparse: false };
  return { ...video, ...rate, endMs, durationMs, heldMs, frames: null, lastFrame: null };
}

/** Filters that hold a still image; none for other video. */
export const stillFilters = ({ heldMs }: VideoTrack): string[] =>
  heldMs === undefined
    ? []
    : [`fps=${STILL_FPS}:eof_action=pass`, `tpad=stop_mode=clone:stop_duration=${seconds(heldMs)}`];

/** Writes all decimals, so that the expressions of all sources have the same form. */
const seconds = (ms: number): string => (ms / 1000).toFixed(6);
