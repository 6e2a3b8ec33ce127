// Draws timecodes. The text of `drawtext` is a function of the time of a frame: its own counter would restart in each
// chunk. The filter has a single form with numbers, so that no other text gets into it.
import { TIMECODE } from "../../../job/overlays.ts";
import { drawtextFilter } from "../../command/filter-text.ts";

/** The number of a frame: `first`, and `fps` more for each second after `zeroMs`. */
export type FrameCount = {
  readonly fps: number;
  readonly zeroMs: number;
  readonly first: number;
  readonly dropsFrames: boolean;
};

/** Drop-frame timecode (SMPTE ST 12-1) is for 29.97 and 59.94 frames per second. */
const isDropRate = (fps: number): boolean => [30, 60].some((rate) => Math.abs(fps - rate / 1.001) < 0.001);

/** The count from a timecode at `zeroMs`. Returns the reason if frames of this rate have no such timecode. */
export function frameCountFrom(timecode: string, fps: number, zeroMs: number): FrameCount | string {
  const [, hours, minutes, seconds, separator, frames] = TIMECODE.exec(timecode) ?? [];
  const rate = Math.round(fps);
  const dropsFrames = separator === ";";
  if (hours === undefined || Number(frames) >= rate) return `${timecode} is no timecode at ${rate} frames per second`;
  if (dropsFrames && !isDropRate(fps)) return "drop-frame timecode is for 29.97 and 59.94 frames per second";
  const minute = Number(hours) * 60 + Number(minutes);
  const dropped = dropsFrames ? (rate / 15) * (minute - Math.trunc(minute / 10)) : 0;
  const first = (minute * 60 + Number(seconds)) * rate + Number(frames) - dropped;
  return { fps, zeroMs, first, dropsFrames };
}

/** The look of a timecode: white on a half-transparent black box. Lengths are in pixels. */
export type TimecodeLook = {
  readonly count: FrameCount;
  readonly size: number;
  /** Signal of white, 0 to 255. */
  readonly white: number;
  /** Share of the free width left of the text, and pixels that are added to it; likewise above it. */
  readonly across: readonly [share: number, pixels: number];
  readonly down: readonly [share: number, pixels: number];
  readonly opacity: number;
  /** Seconds. */
  readonly shown: readonly [from: number, to: number];
  readonly fadeIn: readonly [start: number, seconds: number];
  readonly fadeOut: readonly [end: number, seconds: number];
};

/** Padding of the box, as a share of the size. */
export const BOX_SHARE = 0.2;

export function timecodeFilter({ count, size, white, across, down, opacity, shown, fadeIn, fadeOut }: TimecodeLook) {
  const rate = Math.round(count.fps);
  const { dropsFrames } = count;
  // Frame numbers that are left out: two of each minute but every tenth at 29.97 frames per second.
  const dropped = dropsFrames ? rate / 15 : 0;
  const [inTen, inOne] = [rate * 600 - 9 * dropped, rate * 60 - dropped];
  const frame = [count.zeroMs / 1000, count.fps, count.first, 9 * dropped, inTen, dropped, inTen, dropped, inOne];
  const field = (unit: number, limit: number): number[] => [...frame, unit, limit];
  return drawtextFilter(dropsFrames, white, [
    ...[size, Math.round(size * BOX_SHARE), ...across, ...down],
    ...[opacity, ...fadeIn, ...fadeOut],
    ...[field(3600 * rate, 24), field(60 * rate, 60), field(rate, 60), field(1, rate)].flat(),
    ...shown,
  ]);
}
