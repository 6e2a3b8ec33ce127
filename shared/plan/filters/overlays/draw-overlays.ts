// Draws overlays and watermarks into frames: images with `overlay`, text with libass, timecodes with `drawtext`.

import type { Watermark } from "../../../job/output-spec.ts";
import type { Anchor, ImageOverlay } from "../../../job/overlays.ts";
import type { Filter, Overlay } from "../../command/filter-graph.ts";
import { quoted } from "../../command/filter-text.ts";
import { seconds } from "../../command/opening-arguments.ts";
import type { Size } from "../../source/frame-size.ts";
import { BITMAP_TIMES, type Canvas, scriptFilter, transferOf } from "../burn-in.ts";
import { imageOverlay } from "../overlay-image.ts";
import type { DrawnOverlays, ShownTimes, TimedOverlay } from "./overlay-times.ts";
import { acrossOf, downOf, pixelsOf, textFile } from "./text-files.ts";
import { timecodeFilter } from "./timecode.ts";

/** The filters that draw overlays into such frames. */
export const overlayFilters = (drawn: DrawnOverlays, canvas: Canvas): Filter[] => [
  ...fadeTimes(drawn),
  ...drawn.overlays.map((timed) => overlayFilter(timed, drawn.output, canvas)),
  ...drawn.after,
];

/** The filters of `overlayFilters` that set times. */
export const overlayTimes = (drawn: DrawnOverlays): string[] => [...fadeTimes(drawn), ...drawn.after];

/** Images that fade have times of their own. */
const fadeTimes = ({ overlays }: DrawnOverlays): string[] =>
  overlays.some(({ spec, times }) => "url" in spec && times.fadeMs > 0) ? [BITMAP_TIMES] : [];

function overlayFilter({ at, spec, times, count }: TimedOverlay, output: number, canvas: Canvas): Filter {
  if ("url" in spec) return imageFilter(spec, times, canvas);
  if (count && "timecode" in spec) return timecodeFilter(spec, count, times, canvas);
  return scriptFilter(textFile(`${output}-${at}`, times, transferOf(canvas.tags)), canvas.pixelFormat);
}

/** Options of `overlay`. `x` and `y` are in pixels. */
function placeOf(anchor: Anchor, x: number, y: number): string {
  const before = (frame: string, image: string, share: number, pixels: number): string | number =>
    share === 0 ? pixels : share === 1 ? `${frame}-${image}-${pixels}` : `(${frame}-${image})/2+${pixels}`;
  return `x=${before("W", "w", acrossOf(anchor), x)}:y=${before("H", "h", downOf(anchor), y)}`;
}

/** An animated image becomes a single still image. Its time base must not make the video's time base finer. */
const STILL: readonly string[] = ["trim=end_frame=1", "settb=1"];

function imageFilter(spec: ImageOverlay, times: ShownTimes, canvas: Canvas): Overlay {
  const { size } = canvas;
  const { url, anchor, opacity } = spec;
  const place = placeOf(anchor, pixelsOf(spec.x, size.width), pixelsOf(spec.y, size.height));
  // The images of a fade must not repeat the last frame.
  const ends = times.fadeMs > 0 ? ":shortest=1" : "";
  const isShown = [
    ...(times.fromMs === null ? [] : [`gte(t,${seconds(times.fromMs)})`]),
    ...(times.toMs === null ? [] : [`lt(t,${seconds(times.toMs)})`]),
  ].join("*");
  return imageOverlay(
    {
      imageUrl: url,
      filters: STILL,
      scale: scaleOf(spec, size),
      alphaFilters: [...(opacity === 1 ? [] : [`colorchannelmixer=aa=${opacity}`]), ...fadeFilters(times)],
      place: `${place}${isShown === "" ? "" : `:enable=${quoted(isShown)}`}${ends}`,
    },
    canvas,
  );
}

function scaleOf({ width, height }: ImageOverlay, size: Size): string {
  if (width === null && height === null) return ownScale(size);
  const [w, h] = [
    width && Math.max(1, pixelsOf(width, size.width)),
    height && Math.max(1, pixelsOf(height, size.height)),
  ];
  const other = (side: string, pixels: number, from: string): string =>
    quoted(`max(1,round(${side}*${pixels}/${from}))`);
  return `w=${w ?? other("iw", h ?? 1, "ih")}:h=${h ?? other("ih", w ?? 1, "iw")}`;
}

/** Times before the source's start are moved by this: `fade` accepts none. In µs. */
const FADE_ORIGIN_US = 10_000_000;

/** Distance of the images after the last fade, which only keep the stream from ending. In µs. */
const AFTER_US = 1_000_000_000;

/**
 * Repeats the image in the steps of its fades, each with the alpha at the middle of its step. `overlay` shows the last
 * step that starts before a frame, so the alpha is a function of the time of the frame.
 */
function fadeFilters({ startMs, endMs, fadeMs, stepMs, ...times }: ShownTimes): string[] {
  if (fadeMs === 0) return [];
  const steps = Math.ceil(fadeMs / stepMs) + 1;
  const fromMs = times.fromMs ?? startMs - stepMs / 2;
  const onClock = (ms: number): number => Math.round(ms * 1000) + FADE_ORIGIN_US;
  const step = Number((stepMs * 1000).toFixed(3));
  const fadeAt = (direction: "in" | "out", ms: number): string =>
    `fade=t=${direction}:st=${seconds(onClock(ms - stepMs / 2) / 1000)}:d=${seconds(fadeMs)}:alpha=1`;
  const starts = [fromMs, ...(times.toMs === null ? [] : [times.toMs - steps * stepMs])];
  const after = `${onClock((starts.at(-1) ?? 0) + steps * stepMs)}+(N-${starts.length * steps})*${AFTER_US}`;
  const timeOf = starts.reduceRight(
    (later, ms, at) => `if(lt(N,${(at + 1) * steps}),${onClock(ms)}+(N-${at * steps})*${step},${later})`,
    after,
  );
  return [
    ...["settb=1/1000000", "loop=loop=-1:size=1", `setpts=${quoted(timeOf)}`],
    fadeAt("in", startMs),
    ...(endMs === null ? [] : [fadeAt("out", endMs - fadeMs)]),
    `setpts=PTS-${FADE_ORIGIN_US}`,
  ];
}

/**
 * A watermark has its own size in pixels on frames whose shorter side is this. On other frames it is scaled. Our
 * decision.
 */
const REFERENCE_SIDE = 1080;
/** Largest share of the width or height for a watermark. */
const LARGEST_SHARE = 0.5;
/**
 * Distance from the edges, as a share of the shorter side. It is rounded to an even number, to be on the chroma grid.
 */
const MARGIN_SHARE = 0.02;

/** The scale of an image without a size: the same relative size in all renditions. */
function ownScale({ width, height }: Size): string {
  const limits = [width, height].map((side) => Math.max(1, Math.floor(side * LARGEST_SHARE)));
  const factor = `min(${Math.min(width, height)}/${REFERENCE_SIDE},min(${limits[0]}/iw,${limits[1]}/ih))`;
  return `w=${quoted(`max(1,round(iw*${factor}))`)}:h=${quoted(`max(1,round(ih*${factor}))`)}`;
}

/** Lays the first frame of a watermark's file over all frames. */
export function watermarkOverlay({ url, position }: Watermark, canvas: Canvas): Overlay {
  const { width, height } = canvas.size;
  const margin = 2 * Math.round((Math.min(width, height) * MARGIN_SHARE) / 2);
  const place = placeOf(position, margin, margin);
  return imageOverlay({ imageUrl: url, filters: STILL, scale: ownScale(canvas.size), place }, canvas);
}
