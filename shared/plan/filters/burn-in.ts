// Draws captions into frames with libass. The node writes the files that the filter reads (encoder-node/burn-in/).
import type { BurnSpec } from "../../job/burn.ts";
import type { ColorTags } from "../source/source-color.ts";

/** Captions of an output. */
export type BurnIn = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** The time of the source at which the times of the frames are 0; whole ms. */
  readonly fromMs: number;
  /** Filters that set the times of the frames afterwards. */
  readonly after: readonly string[];
};

/** Transfers for which captions have colors of their own. The name of the file contains the transfer. */
export const BURN_TRANSFERS = ["sdr", "pq", "hlg"] as const;
export type BurnTransfer = (typeof BURN_TRANSFERS)[number];

const TRANSFERS: Readonly<Record<string, BurnTransfer>> = { smpte2084: "pq", "arib-std-b67": "hlg" };

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
  const found = argv.flatMap((argument) => [...argument.matchAll(BURN_FILES)]);
  const files = found.map(([name, output, fromMs = "0", transfer = "sdr"]): BurnFile => {
    const known = BURN_TRANSFERS.find((one) => one === transfer) ?? "sdr";
    return { name, output: Number(output), fromMs: Number(fromMs), transfer: known };
  });
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** Frames to draw in; `pixelFormat` by ffmpeg's name. */
type Drawn = { readonly pixelFormat: string; readonly tags: ColorTags };

/** The filters that draw captions into such frames. Captions on transparent frames are opaque. */
export function burnFilters(burnIn: BurnIn, { pixelFormat, tags }: Drawn): string[] {
  const alpha = /^(?:yuva|gbrap)/.test(pixelFormat) ? ":alpha=1" : "";
  const file = burnFile(burnIn, TRANSFERS[tags.transfer] ?? "sdr");
  return [`subtitles=${file}:fontsdir=${FONTS_FOLDER}${alpha}`, ...burnIn.after];
}

type Burnt = { readonly index: number; readonly burn?: BurnSpec };

/**
 * Captions of frames whose times count from `fromMs` of the source. The file has the times of the frames: `setpts`
 * would remove the durations of frames.
 */
export const burnVideo = ({ index, burn }: Burnt, fromMs: number): BurnIn | null =>
  burn ? { output: index, fromMs, after: [] } : null;

/** Captions of selected frames, which have the times of the source. `after`: filters that set new times. */
export const burnImages = ({ index, burn }: Burnt, after: readonly string[]): BurnIn | null =>
  burn ? { output: index, fromMs: 0, after } : null;
