// The filters that select the frames shown at chosen timestamps.
import { quoted } from "../command/filter-text.ts";
import type { SelectedImages } from "./selected-images.ts";
import { countTimestamps, type SamplingInterval } from "./thumbnail-timestamps.ts";

/**
 * A frame that starts this shortly after a timestamp counts as shown at it: Matroska rounds times to whole
 * milliseconds. The value is not round, so that no frames are exactly at the limit, where two ways of reading the
 * source could differ.
 */
const SNAP_SECONDS = 0.000437;

/** Selected frames follow each other at this distance, in hundredths of a second, the unit of gif. */
const OUTPUT_STEP = 10;

/**
 * Selects for each timestamp the last frame that started before it. `setpts` numbers frames by the number of timestamps
 * before them, so frames with number k are between timestamps k−1 and k. `fps` then outputs the last frame of each
 * number, and repeats it for timestamps before the next frame. Timestamps before the first frame get the first frame.
 * Timestamps after the last frame get the last frame.
 * Numbers are microseconds apart, and the clock of `fps` has ten times that step. So the end of the stream comes after
 * the last frame in all versions. ffmpeg 5.1 does not change its time, 7.0 sends it through `setpts`. `originMs`: the
 * timestamp at which ffmpeg's own time is 0.
 */
export function selectFilters(intervals: readonly SamplingInterval[], originMs = 0): string[] {
  const count = countTimestamps(intervals);
  const passed = intervals.map((interval) => passedTimestamps(interval, originMs)).join("+");
  return [
    ...["settb=1/1000000", `setpts=${quoted(`10*(${passed})+1`)}`],
    "fps=100000:start_time=0:round=down:eof_action=pass",
    ...[`tpad=stop_mode=clone:stop=${count}`, `trim=end_frame=${count}`],
  ];
}

/** Gives selected frames evenly spaced times, because encoders reject two frames at the same time. */
export const EVEN_TIMESTAMPS: readonly string[] = ["settb=1/100", `setpts=${OUTPUT_STEP}*N`];

/** Filters that set the times of selected frames. */
export const timesOf = (
  { hasShownTimes }: Pick<SelectedImages, "hasShownTimes">,
  intervals: readonly SamplingInterval[],
): readonly string[] => (hasShownTimes ? shownTimes(intervals) : EVEN_TIMESTAMPS);

/** Gives selected frames, counted from 0, the timestamps at which they are shown, in µs. */
function shownTimes(intervals: readonly SamplingInterval[]): string[] {
  let before = 0;
  const terms = intervals.map(({ firstMs, stepMs, count }) => {
    const [from, to] = [before, before + count - 1];
    before += count;
    return `between(N,${from},${to})*round(1000*(${decimal(firstMs)}+${decimal(stepMs)}*(N-${from})))`;
  });
  return ["settb=1/1000000", `setpts=${quoted(terms.join("+"))}`];
}

/** An expression of ffmpeg: number of timestamps of an interval before the frame. */
function passedTimestamps({ firstMs, stepMs, count }: SamplingInterval, originMs: number): string {
  const sinceFirst = `T-${decimal((firstMs - originMs) / 1_000 + SNAP_SECONDS)}`;
  return count === 1 ? `gt(${sinceFirst},0)` : `clip(ceil((${sinceFirst})/${decimal(stepMs / 1_000)}),0,${count})`;
}

const decimal = (value: number): string => String(Number(value.toFixed(9)));
