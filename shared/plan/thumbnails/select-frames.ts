// The filters that take what is on the screen at chosen moments out of a stream of frames.
import { quoted } from "../command/filter-text.ts";
import { countTimestamps, type SamplingInterval } from "./thumbnail-timestamps.ts";

/**
 * A frame that begins so shortly after a moment belongs to it: Matroska rounds times to whole milliseconds. It is no round
 * number, so that frames do not lie on the border, where one way of reading the source could differ from another.
 */
const SNAP_SECONDS = 0.000437;

/** Pictures follow each other at this distance, in hundredths of a second: what gif counts in. */
const OUTPUT_STEP = 10;

/**
 * Takes of each moment the last frame that began before it. `setpts` numbers frames by how many moments they come after, so
 * that those with number k are the ones between moments k−1 and k; `fps` then puts out the last of each number, and
 * repeats it for moments that come before the next frame. The first frame stands in for moments before it, the last
 * for those after it.
 *
 * Numbers are microseconds apart, and the clock of `fps` runs ten of those: so the end of the stream, whose time 5.1
 * leaves as it is and 7.0 sends through `setpts`, comes after the last frame in either.
 *
 * `originMs` is the moment at which ffmpeg's own time is 0.
 */
export function selectFilters(strides: readonly SamplingInterval[], originMs = 0): string[] {
  const count = countTimestamps(strides);
  const passed = strides.map((stride) => passedMoments(stride, originMs)).join("+");
  return [
    ...["settb=1/1000000", `setpts=${quoted(`10*(${passed})+1`)}`],
    "fps=100000:start_time=0:round=down:eof_action=pass",
    ...[`tpad=stop_mode=clone:stop=${count}`, `trim=end_frame=${count}`],
  ];
}

/** Gives picked pictures even times: encoders refuse two at one time. */
export const EVEN_TIMESTAMPS: readonly string[] = ["settb=1/100", `setpts=${OUTPUT_STEP}*N`];

/** In ffmpeg's expressions: how many moments of a stride lie before the frame. */
function passedMoments({ firstMs, stepMs, count }: SamplingInterval, originMs: number): string {
  const sinceFirst = `T-${decimal((firstMs - originMs) / 1_000 + SNAP_SECONDS)}`;
  return count === 1 ? `gt(${sinceFirst},0)` : `clip(ceil((${sinceFirst})/${decimal(stepMs / 1_000)}),0,${count})`;
}

const decimal = (value: number): string => String(Number(value.toFixed(9)));
