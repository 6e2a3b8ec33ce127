// What of an output's picture belongs to a chunk.

import { ROUNDING_SECONDS } from "../../media/frame-index.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { seconds } from "../command/progress-ticks.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { gridLineMs } from "./chunked-source.ts";
import { slotOfFirst } from "./frame-slots.ts";

export type VideoSpan = {
  readonly span: ChunkSpan;
  /** The rate on which the source's frames are laid; null: they keep their own times. */
  readonly slotFps: number | null;
  /** Names what a first pass leaves behind in the working folder: unique there. */
  readonly passLog: string;
};

export type ChunkVideo = {
  /** Those of the timing, as a run has them that begins at the chunk. */
  readonly timing: readonly string[];
  /** What leaves the chunk's frames only; to come after all filters that look at neighbours. */
  readonly trim: readonly string[];
  /** From the output's first frame to the chunk's, in seconds. */
  readonly sinceStart: number;
  /** When the chunk's first frame is shown, in µs on the film's line. */
  readonly firstUs: number;
  /** Null for the last chunk of an output that has not the source's frames. */
  readonly frames: number | null;
};

export const chunkVideo = (part: VideoSpan, timing: FrameTiming): ChunkVideo =>
  timing.filters.length === 0 ? sourceFrames(part) : ratedFrames(part.span, timing);

type Edge = NonNullable<ChunkSpan["from"]>;

/**
 * Three quarters of the way from the last frame before the cut to the first one behind it: however a time base rounds that, it is
 * later than the one and not later than the other, also where the two are one tick apart.
 */
const between = ({ splitUs, frameUs }: Edge): string => seconds((splitUs + frameUs) / 2000);

function sourceFrames({ span, slotFps }: VideoSpan): ChunkVideo {
  const { from, to, startUs, frames } = span;
  const shown = (us: number): number => (slotFps === null ? us / 1e6 : slotOfFirst(us / 1e6, slotFps) / slotFps);
  const first = shown(from?.frameUs ?? startUs);
  return {
    timing: [],
    trim: trimFilter(from && `start=${between(from)}`, to && `end=${between(to)}`),
    sinceStart: from ? first - shown(startUs) : 0,
    firstUs: Math.round(first * 1e6),
    frames,
  };
}

/** What is no difference, in frames. */
const NO_FRAMES = 1e-6;

/**
 * Filter `fps` counts frames from time 0 on, whatever comes first, if it sees the film's own times; a chunk has those from the
 * first one at or behind its line of the keyframe grid, which lies on multiples after the output's own first frame.
 */
function ratedFrames(span: ChunkSpan, { filters, fps }: FrameTiming): ChunkVideo {
  const { from, to } = span;
  const fromZero = filters.some((filter) => filter.endsWith(FROM_ZERO));
  // To the nearest frame, halves up: av_rescale_q_rnd with AV_ROUND_NEAR_INF.
  const first = fromZero ? 0 : Math.floor((span.startUs / 1e6) * fps + 0.5 + NO_FRAMES);
  const frameAt = (edge: Edge): number =>
    first + Math.ceil((gridLineMs(span, edge) / 1000 - ROUNDING_SECONDS) * fps - NO_FRAMES);
  const begin = from ? frameAt(from) : first;
  const end = to && frameAt(to);
  return {
    timing: from ? filters.map((filter) => filter.replace(FROM_ZERO, "")) : filters,
    trim: trimFilter(from && `start_pts=${begin}`, end === null ? null : `end_pts=${end}`),
    sinceStart: (begin - first) / fps,
    firstUs: Math.round((begin / fps) * 1e6),
    frames: end === null ? null : end - begin,
  };
}

const FROM_ZERO = ":start_time=0";

function trimFilter(start: string | null, end: string | null): string[] {
  const limits = [start, end].filter((limit) => limit !== null);
  return limits.length === 0 ? [] : [`trim=${limits.join(":")}`];
}
