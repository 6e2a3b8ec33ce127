// Limits the video of an output to the frames of a chunk.
import { ROUNDING_SECONDS } from "../../media/frame-index.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";
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
  /** Time of the chunk's first frame, in µs of the output. */
  readonly firstUs: number;
  /** Null for the last chunk of an output with another frame rate than the source. */
  readonly frames: number | null;
};

/** Start of what the output shows, and of its source's video. In ms on the source's timeline. */
type Starts = { readonly trim: Pick<Trim, "startMs" | "endMs">; readonly track: Pick<VideoTrack, "startMs"> };

export const chunkVideo = (video: VideoSpan, timing: FrameTiming, starts: Starts): ChunkVideo =>
  timing.filters.length === 0 ? sourceFrames(video, starts) : convertedFrames(video.span, timing, starts);

type SplitPoint = NonNullable<ChunkSpan["from"]>;

/**
 * Three quarters of the way from the last frame before the split point to the first frame after it. With any rounding
 * by a time base, this is later than the first of both frames and not later than the second. That holds even if the
 * frames are one tick apart.
 */
const between = ({ splitUs, frameUs }: SplitPoint): string => seconds((splitUs + frameUs) / 2000);

function sourceFrames({ span, slotFps }: VideoSpan, { trim }: Starts): ChunkVideo {
  const { from, to, startUs, frames } = span;
  const visibleAt = (us: number): number => {
    const seconds = (us - trim.startMs * 1000) / 1e6;
    return slotFps === null ? seconds : slotOfFirst(seconds, slotFps) / slotFps;
  };
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
function convertedFrames(span: ChunkSpan, { filters, fps }: FrameTiming, { trim, track }: Starts): ChunkVideo {
  const { from, to } = span;
  const startsAtZero = filters.some((filter) => filter.endsWith(START_AT_ZERO));
  // To the nearest frame, halves up: av_rescale_q_rnd with AV_ROUND_NEAR_INF.
  const firstOfSource = startsAtZero ? 0 : Math.floor((span.startUs / 1e6) * fps + 0.5 + NO_FRAMES);
  const startFrame = (trim.startMs / 1000) * fps;
  const isClipped = trim.startMs > 0 && (startsAtZero || trim.startMs > track.startMs);
  const first = isClipped ? Math.ceil(startFrame - NO_FRAMES) : firstOfSource;
  const frameAt = (point: SplitPoint): number =>
    first + Math.ceil((gridLineMs(span, point) / 1000 - ROUNDING_SECONDS) * fps - NO_FRAMES);
  const begin = from ? frameAt(from) : first;
  // `-t` counts whole frames of the filter.
  const last = trim.endMs === null ? null : first + Math.round(((trim.endMs - trim.startMs) / 1000) * fps);
  const end = to ? frameAt(to) : last;
  return {
    timing: from ? filters.map((filter) => filter.replace(START_AT_ZERO, "")) : filters,
    trim: trimFilter(from || isClipped ? `start_pts=${begin}` : null, end === null ? null : `end_pts=${end}`),
    sinceStart: (begin - first) / fps,
    firstUs: Math.round((Math.round(begin - startFrame) / fps) * 1e6),
    frames: to && end !== null ? end - begin : null,
  };
}

const START_AT_ZERO = ":start_time=0";

function trimFilter(start: string | null, end: string | null): string[] {
  const limits = [start, end].filter((limit) => limit !== null);
  return limits.length === 0 ? [] : [`trim=${limits.join(":")}`];
}
