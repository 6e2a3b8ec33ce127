// Limits the video of an output to the frames of a chunk.
import { ROUNDING_SECONDS } from "../../media/frame-index.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { gridLineMs } from "./chunkable-source.ts";
import { slotOfFirst } from "./frame-slots.ts";

export type VideoSpan = {
  readonly span: ChunkSpan;
  /** Constant rate of the source's frames; null: frames keep their own times. */
  readonly slotFps: number | null;
  /** Names the files of a first pass. Unique in the working folder. */
  readonly passLog: string;
};

export type ChunkVideo = {
  /** Filters of the timing, for a run that starts at the chunk. */
  readonly timing: readonly string[];
  /** Drops all frames outside the chunk. Comes after all filters that look at neighboring frames. */
  readonly trim: readonly string[];
  /** Time from the output's first frame to the chunk's first frame, in seconds. */
  readonly sinceStart: number;
  /** Time of the chunk's first frame, in µs on the source's timeline. */
  readonly firstUs: number;
  /** Null for the last chunk of an output with another frame rate than the source. */
  readonly frames: number | null;
};

export const chunkVideo = (video: VideoSpan, timing: FrameTiming): ChunkVideo =>
  timing.filters.length === 0 ? sourceFrames(video) : convertedFrames(video.span, timing);

type SplitPoint = NonNullable<ChunkSpan["from"]>;

/**
 * Three quarters of the way from the last frame before the split point to the first frame after it. With any rounding
 * by a time base, this is later than the first of both frames and not later than the second. That holds even if the
 * frames are one tick apart.
 */
const between = ({ splitUs, frameUs }: SplitPoint): string => seconds((splitUs + frameUs) / 2000);

function sourceFrames({ span, slotFps }: VideoSpan): ChunkVideo {
  const { from, to, startUs, frames } = span;
  const visibleAt = (us: number): number => (slotFps === null ? us / 1e6 : slotOfFirst(us / 1e6, slotFps) / slotFps);
  const first = visibleAt(from?.frameUs ?? startUs);
  return {
    timing: [],
    trim: trimFilter(from && `start=${between(from)}`, to && `end=${between(to)}`),
    sinceStart: from ? first - visibleAt(startUs) : 0,
    firstUs: Math.round(first * 1e6),
    frames,
  };
}

/** Differences below this number of frames count as equal. */
const NO_FRAMES = 1e-6;

/**
 * Filter `fps` counts frames from time 0, wherever it starts, if it gets the source's own times. A chunk starts at the
 * first frame at or after its line of the keyframe grid. Grid lines are at multiples, counted from the output's own
 * first frame.
 */
function convertedFrames(span: ChunkSpan, { filters, fps }: FrameTiming): ChunkVideo {
  const { from, to } = span;
  const startsAtZero = filters.some((filter) => filter.endsWith(START_AT_ZERO));
  // To the nearest frame, halves up: av_rescale_q_rnd with AV_ROUND_NEAR_INF.
  const first = startsAtZero ? 0 : Math.floor((span.startUs / 1e6) * fps + 0.5 + NO_FRAMES);
  const frameAt = (point: SplitPoint): number =>
    first + Math.ceil((gridLineMs(span, point) / 1000 - ROUNDING_SECONDS) * fps - NO_FRAMES);
  const begin = from ? frameAt(from) : first;
  const end = to && frameAt(to);
  return {
    timing: from ? filters.map((filter) => filter.replace(START_AT_ZERO, "")) : filters,
    trim: trimFilter(from && `start_pts=${begin}`, end === null ? null : `end_pts=${end}`),
    sinceStart: (begin - first) / fps,
    firstUs: Math.round((begin / fps) * 1e6),
    frames: end === null ? null : end - begin,
  };
}

const START_AT_ZERO = ":start_time=0";

function trimFilter(start: string | null, end: string | null): string[] {
  const limits = [start, end].filter((limit) => limit !== null);
  return limits.length === 0 ? [] : [`trim=${limits.join(":")}`];
}
