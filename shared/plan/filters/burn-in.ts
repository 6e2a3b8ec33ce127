// Draws captions into frames: text with libass, and images by an overlay. The node writes the files that the filters
// read (encoder-node/text/burn-in/).
import type { BurnBitmaps, BurnSpec } from "../../job/burn.ts";
import { type Filter, isOverlay } from "../command/filter-graph.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { Size } from "../source/frame-size.ts";
import type { ColorTags } from "../source/source-color.ts";
import { fitFrame } from "./fit-frame.ts";
import { imageOverlay, type OverlayTarget } from "./overlay-image.ts";

/** Captions of an output. */
export type BurnIn = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** The time of the source at which the times of the frames are 0; whole ms. */
  readonly fromMs: number;
  /** Filters that set the times of the frames afterwards. */
  readonly after: readonly string[];
  /** Set for images, with the time that is added to theirs. */
  readonly bitmaps?: Bitmaps;
};

type Bitmaps = BurnBitmaps & { readonly shiftMs: number };

/** Transfers for which captions have colors of their own. The name of the file contains the transfer. */
export const BURN_TRANSFERS = ["sdr", "pq", "hlg"] as const;
export type BurnTransfer = (typeof BURN_TRANSFERS)[number];

const TRANSFERS: Readonly<Record<string, BurnTransfer>> = { smpte2084: "pq", "arib-std-b67": "hlg" };

export const transferOf = ({ transfer }: ColorTags): BurnTransfer => TRANSFERS[transfer] ?? "sdr";

/** Folder of the fonts, in the folder of a run. */
export const FONTS_FOLDER = "fonts";

/** A file of captions in the folder of a run, for frames of this transfer. */
export type BurnFile = Pick<BurnIn, "output" | "fromMs"> & { readonly name: string; readonly transfer: BurnTransfer };

/** The name of a file, such as `burn-0.ass` or `burn-2-14000-pq.ass`. */
const burnFile = ({ output, fromMs }: BurnIn, transfer: BurnTransfer): string =>
  `${["burn", output, ...(fromMs === 0 ? [] : [fromMs]), ...(transfer === "sdr" ? [] : [transfer])].join("-")}.ass`;

const BURN_FILES = /\bburn-(\d{1,5})(?:-(\d{1,10}))?(?:-(pq|hlg))?\.ass\b/g;

/** The files of captions that these arguments name, each once. */
export function burnFilesIn(argv: readonly string[]): BurnFile[] {
  const names = argv.flatMap((argument) => [...argument.matchAll(BURN_FILES)]);
  const files = names.map(([name, output, fromMs = "0", transfer = "sdr"]): BurnFile => {
    const known = BURN_TRANSFERS.find((candidate) => candidate === transfer) ?? "sdr";
    return { name, output: Number(output), fromMs: Number(fromMs), transfer: known };
  });
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** Frames to draw in. `step`: 2 if the corner of an image must be on the chroma grid, else 1. */
export type Canvas = OverlayTarget & { readonly size: Size; readonly step: 1 | 2 };

/** The filters that draw captions into such frames. Captions on transparent frames are opaque. */
export function burnFilters(burnIn: BurnIn, drawn: Canvas): Filter[] {
  if (burnIn.bitmaps) return bitmapFilters(burnIn, burnIn.bitmaps, drawn);
  const { pixelFormat, tags } = drawn;
  return [scriptFilter(burnFile(burnIn, transferOf(tags)), pixelFormat), ...burnIn.after];
}

/** Draws the text of a script. */
export const scriptFilter = (file: string, pixelFormat: string): string =>
  `subtitles=${file}:fontsdir=${FONTS_FOLDER}${/^(?:yuva|gbrap)/.test(pixelFormat) ? ":alpha=1" : ""}`;

/** The filters of `burnFilters` that set times. Frames under the frames with captions need the same times. */
export const burnTimes = ({ bitmaps, after }: BurnIn): string[] => [...(bitmaps ? [BITMAP_TIMES] : []), ...after];

/** `overlay` counts in a common unit of both inputs, and would leave the durations of frames in the other unit. */
export const BITMAP_TIMES = "settb=1/1000000";

/** Time of the source's start in files of bitmaps, in ms: muxers move times before 0. */
export const BITMAPS_ORIGIN_MS = 1_000_000;
/** Canvases whose shape differs less than this from that of the frames fill them. */
const SAME_SHAPE = 0.01;

/** Returns the file of captions that are images: `burn-0.nut`. It counts in µs. */
export const bitmapFile = (output: number): string => `burn-${output}.nut`;

/** `overlay` shows the last image at or before a frame. Without `shortest`, images after the last frame repeat it. */
function bitmapFilters(burnIn: BurnIn, bitmaps: Bitmaps, drawn: Canvas): Filter[] {
  const moved = `setpts=PTS+${1000 * (bitmaps.shiftMs - burnIn.fromMs - BITMAPS_ORIGIN_MS)}`;
  const filters = [bitmapSource(burnIn.output, burnIn.fromMs, bitmaps), moved];
  const image = { imageUrl: null, filters, ...canvasPlace(bitmaps, drawn) };
  return [BITMAP_TIMES, imageOverlay(image, drawn), ...burnIn.after];
}

/** Reads from the last image before a time of the source, or a few images earlier. */
function bitmapSource(output: number, fromMs: number, { startMs, shiftMs }: Bitmaps): string {
  const skippedMs = Math.floor(fromMs - shiftMs - startMs);
  return `movie=${bitmapFile(output)}:f=nut${skippedMs > 0 ? `:sp=${seconds(skippedMs)}` : ""}`;
}

/** Changes the filters of frames from this time of the source on: they skip earlier images. */
export function skipBitmaps(filters: readonly Filter[], burnIn: BurnIn | null, fromMs: number): readonly Filter[] {
  const { output, bitmaps } = burnIn ?? {};
  if (output === undefined || !bitmaps) return filters;
  const source = bitmapSource(output, fromMs, bitmaps);
  return filters.map((filter) =>
    isOverlay(filter) && filter.imageUrl === null
      ? { ...filter, imageFilters: [source, ...filter.imageFilters.slice(1)] }
      : filter,
  );
}

/** Fits the canvas into the frames, at the bottom, where most captions are. */
function canvasPlace(canvas: Size, { size, step }: Canvas): { readonly scale: string; readonly place: string } {
  const ratio = (canvas.width * size.height) / (canvas.height * size.width);
  const { activeArea, pad } = fitFrame(Math.abs(ratio - 1) < SAME_SHAPE ? size : canvas, size, step);
  const { width, height } = activeArea;
  return { scale: `w=${width}:h=${height}`, place: `x=${pad?.x ?? 0}:y=${size.height - height}:shortest=1` };
}

type Burnt = { readonly index: number; readonly burn?: BurnSpec };

/**
 * Captions of frames whose times count from `fromMs` of the source. The file has the times of the frames: `setpts`
 * would remove the durations of frames.
 */
export const burnVideo = ({ index, burn }: Burnt, fromMs: number): BurnIn | null =>
  burn ? { output: index, fromMs, after: [], ...bitmapsOf(burn) } : null;

/** Captions of selected frames, which have the times of the source. `after`: filters that set new times. */
export const burnImages = ({ index, burn }: Burnt, after: readonly string[]): BurnIn | null =>
  burn ? { output: index, fromMs: 0, after, ...bitmapsOf(burn) } : null;

const bitmapsOf = ({ bitmaps, shiftMs }: BurnSpec): Pick<BurnIn, "bitmaps"> =>
  bitmaps ? { bitmaps: { ...bitmaps, shiftMs } } : {};
