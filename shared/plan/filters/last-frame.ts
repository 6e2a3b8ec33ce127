// Keeps the last frame of a video without a constant rate on the screen as long as its source does.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import { quoted } from "../command/filter-text.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";
import type { FrameTiming } from "./frame-timing.ts";

/** When the last frame begins and ends, in ms on the source's timeline. */
export type LastFrame = { readonly startMs: number; readonly endMs: number };

export type HeldFrame = {
  /** How often the frame is shown again. */
  readonly repeats: number;
  /** Show the frame again where its time ends; to come before what looks at neighbouring frames. */
  readonly filters: readonly string[];
  /** Options of the encoder. */
  readonly encoderArguments: readonly string[];
  /** Options of an output with its last packet, which give it its length, also where it is copied. */
  readonly lengthArguments: readonly string[];
};

const NOT_HELD: HeldFrame = { repeats: 0, filters: [], encoderArguments: [], lengthArguments: [] };

/** What a last frame lasts of itself is the mean distance of frames; it is shown again from this many of those on. */
const LONG_FRAMES = 1.5;

/** How long before its end it is shown again at most: what players make of a last frame without a length is short. */
const SHOWN_AGAIN_MS = 40;

/** Containers that know a time for each frame, but not how long it lasts. */
const WITHOUT_DURATIONS: ReadonlySet<TrackContainer> = new Set(["mpegts"]);
/** Codecs whose encoders reorder frames, and can be told not to. */
const REORDERING: ReadonlySet<VideoCodec> = new Set(["h264", "hevc"]);

export type HoldOptions = {
  readonly codec: VideoCodec;
  readonly container: TrackContainer;
  /** Streams are packaged as MPEG-TS as well. */
  readonly isStream: boolean;
  /** Whether the last frame is among those that are encoded: of chunks it is in one. */
  readonly isLast: boolean;
  readonly timing: FrameTiming;
};

/** Nothing for a constant rate, which needs nothing. */
export function holdLastFrame(
  { lastFrame }: VideoTrack,
  cut: Trim,
  { codec, container, isStream, isLast, timing }: HoldOptions,
): HeldFrame {
  if (!lastFrame) return NOT_HELD;
  const { startMs } = lastFrame;
  const endMs = Math.min(lastFrame.endMs, cut.endMs ?? Number.POSITIVE_INFINITY);
  const stepMs = 1000 / timing.fps;
  const isLong = endMs - startMs > LONG_FRAMES * stepMs;
  const repeats = isLong && (isStream || !timing.isVariable || WITHOUT_DURATIONS.has(container));
  const shortMs = Math.min(stepMs / 2, SHOWN_AGAIN_MS);
  // Filter `fps` fills up to the last frame, and leaves that out.
  const againMs = timing.isVariable ? [endMs - 2 * shortMs, endMs - shortMs] : [endMs];
  const shownMs = repeats ? (againMs.at(-1) ?? startMs) : startMs;
  const length = timing.isVariable && !WITHOUT_DURATIONS.has(container);
  return {
    repeats: repeats && isLast ? againMs.length : 0,
    // In all chunks: they leave encoders without a frame rate, which goes into headers.
    filters: repeats
      ? repeatedAt(
          againMs.map((ms) => ms - cut.seekMs),
          startMs - cut.seekMs,
        )
      : [],
    encoderArguments: isLong && length && REORDERING.has(codec) ? ["-bf", "0"] : [],
    lengthArguments: length && isLast ? endAt(endMs - cut.startMs, shownMs - cut.startMs) : [],
  };
}

/**
 * `tpad` adds copies some time after the last frame, which depends on the version. Where nothing says how long a frame lasts, the
 * last one is taken to last as long as the one before it: so there are two.
 */
const repeatedAt = (ms: readonly number[], lastMs: number): string[] => {
  const after = seconds(lastMs + 0.5);
  const [first = 0, second = first] = ms.map(seconds);
  const time = `if(gt(PREV_OUTT,${after}),${second},${first})/TB`;
  return [`tpad=stop=${ms.length}:stop_mode=clone`, `setpts=${quoted(`if(gt(T,${after}),${time},PTS)`)}`];
};

/**
 * Lengthens the packet that is written last. The unit of these times differs from the one that 5.1 announces to bitstream
 * filters (TB), so the end is put in proportion to the last frame's time, which is the latest of all. Unless they are named,
 * `setts` sets times of presentation to those of decoding. ISO files add up durations in the order of decoding: only
 * without reordering is that the length.
 */
function endAt(endMs: number, lastMs: number): string[] {
  if (lastMs <= 0) return [];
  const missing = `round(ld(0)*${(endMs / lastMs).toFixed(12)})-PTS`;
  const duration = `st(0,max(ld(0),PTS))*0+if(eq(NEXT_DTS,NOPTS),${missing},DURATION)`;
  return ["-bsf:v", `setts=pts=PTS:dts=DTS:duration=${quoted(duration)}`];
}

const seconds = (ms: number): string => (ms / 1000).toFixed(6);
