// Draws timecodes. The text of `drawtext` is a function of the time of a frame: its own counter would restart in each
// chunk. The filter has a single form with numbers, so that no other text gets into it.
import type { TimecodeOverlay } from "../../../job/overlays.ts";
import { drawtextFilter } from "../../command/filter-text.ts";
import { type BurnTransfer, type Canvas, transferOf } from "../burn-in.ts";
import type { FrameCount, ShownTimes } from "./overlay-times.ts";
import { acrossOf, downOf, pixelsOf } from "./text-files.ts";

/** Padding of the box, as a share of the size. */
const BOX_SHARE = 0.2;
/** Signal of the white of paper (tone-map.ts), of 255. */
const WHITE: Readonly<Record<BurnTransfer, number>> = { sdr: 255, pq: 148, hlg: 191 };
/** Limits of a text that is always shown, in ms. */
const [NEVER, ALWAYS] = [-1e9, 1e11];

/** White on a half-transparent black box. */
export function timecodeFilter(spec: TimecodeOverlay, count: FrameCount, times: ShownTimes, { size, tags }: Canvas) {
  const { fps, zeroMs, first, dropsFrames } = count;
  const { startMs, endMs, fadeMs } = times;
  const rate = Math.round(fps);
  // Frame numbers that are left out: two of each minute but every tenth at 29.97 frames per second.
  const dropped = dropsFrames ? rate / 15 : 0;
  const [inTen, inOne] = [rate * 600 - 9 * dropped, rate * 60 - dropped];
  const frame = [zeroMs / 1000, fps, first, 9 * dropped, inTen, dropped, inTen, dropped, inOne];
  const units = [3600 * rate, 24, 60 * rate, 60, rate, 60, 1, rate];
  const fields = [0, 2, 4, 6].flatMap((at) => [...frame, ...units.slice(at, at + 2)]);
  const pixels = Math.max(1, pixelsOf(spec.size, size.height));
  const border = Math.round(pixels * BOX_SHARE);
  const placed = (share: number, distance: number): number[] => [
    share,
    share === 0 ? distance + border : share === 1 ? -distance - border : distance,
  ];
  const fades = [fadeMs > 0 ? startMs : NEVER, Math.max(1, fadeMs), fadeMs > 0 ? (endMs ?? ALWAYS) : ALWAYS];
  const opacities = [...fades, Math.max(1, fadeMs), times.fromMs ?? NEVER, times.toMs ?? ALWAYS].map((ms) => ms / 1000);
  return drawtextFilter(dropsFrames, WHITE[transferOf(tags)], [
    ...[pixels, border],
    ...placed(acrossOf(spec.anchor), pixelsOf(spec.x, size.width)),
    ...placed(downOf(spec.anchor), pixelsOf(spec.y, size.height)),
    ...[spec.opacity, ...opacities.slice(0, 4), ...fields, ...opacities.slice(4)],
  ]);
}
