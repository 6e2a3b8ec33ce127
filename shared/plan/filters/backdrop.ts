// What surrounds the active area: bars of a color, or a blurred copy of the frame.
import type { Backdrop, Filter } from "../command/filter-graph.ts";
import type { Size } from "../source/frame-size.ts";
import type { Fit, FittedFrame } from "./fit-frame.ts";
import { scaleTo } from "./frame-geometry.ts";
import { type OverlayTarget, overlayFormat } from "./overlay-image.ts";

export type Surroundings = { readonly fit: Fit; readonly pad_color?: string | undefined };

/** The filters before and after those that draw on the active area. */
export type SurroundingFilters = { readonly before: readonly Filter[]; readonly after: readonly Filter[] };

/** True if the frame shows more than the active area: quality then counts for the whole frame. */
export const hasBackdrop = ({ fit }: Surroundings, { pad }: FittedFrame): boolean => fit === "blur" && pad !== null;

/** True if the frames are laid over other frames, which needs a planar format. */
export const isLaidOver = (options: Surroundings, fitted: FittedFrame): boolean =>
  hasBackdrop(options, fitted) || (fitted.pad !== null && isColored(options));

const isColored = ({ fit, pad_color: color = BLACK }: Surroundings): boolean => fit === "pad" && color !== BLACK;
const BLACK = "#000000";

/** `times`: the filters that set the times of the frames that are drawn on. */
export function surroundingFilters(
  options: Surroundings,
  fitted: FittedFrame,
  target: OverlayTarget,
  times: readonly string[],
): SurroundingFilters {
  const { frame, pad } = fitted;
  if (!pad) return { before: [], after: [] };
  const bars = `pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`;
  const { pad_color: color = BLACK } = options;
  const laidOver = (backdropFilters: readonly string[]): SurroundingFilters => ({
    before: [{ backdropFilters: [...backdropFilters, ...times] } satisfies Backdrop],
    after: [{ onBackdrop: `overlay=${pad.x}:${pad.y}:format=${overlayFormat(target.pixelFormat)}` }],
  });
  if (options.fit === "blur") return laidOver(blurredFilters(fitted));
  if (!isColored(options)) return { before: [], after: [bars] };
  // ffmpeg 5 and 6 convert the color of `pad` with BT.601, whatever the matrix of the frames.
  if (/^yuv\d/.test(target.pixelFormat)) return laidOver([bars, lutOf(color, target)]);
  return { before: [], after: [`${bars}:color=0x${color.slice(1)}`] };
}

/** The backdrop is blurred at this share of its size, which saves time. */
const SHRUNK = 8;
/** Standard deviation of the blur, as a share of the longer side. Our decision. */
const SIGMA_SHARE = 0.012;

/** A copy that covers the frame, blurred. */
function blurredFilters({ frame, activeArea }: FittedFrame): string[] {
  const small = { width: even(frame.width / SHRUNK), height: even(frame.height / SHRUNK) };
  const factor = Math.max(small.width / activeArea.width, small.height / activeArea.height);
  const covering: Size = {
    width: Math.max(small.width, even(activeArea.width * factor)),
    height: Math.max(small.height, even(activeArea.height * factor)),
  };
  const sigma = (SIGMA_SHARE * Math.max(frame.width, frame.height)) / SHRUNK;
  return [
    scaleTo(covering),
    `crop=${small.width}:${small.height}`,
    `gblur=sigma=${Number(sigma.toFixed(2))}`,
    scaleTo(frame),
  ];
}

const even = (pixels: number): number => Math.max(2, 2 * Math.round(pixels / 2));

/** Shares of red and blue in the luma, by ffmpeg's names of matrices; BT.709 for others. */
const LUMA: Readonly<Record<string, readonly [red: number, blue: number]>> = {
  smpte170m: [0.299, 0.114],
  bt470bg: [0.299, 0.114],
  fcc: [0.3, 0.11],
  smpte240m: [0.212, 0.087],
  bt2020nc: [0.2627, 0.0593],
};

/** Gives all pixels of YUV with limited range this color. */
function lutOf(color: string, { pixelFormat, tags }: OverlayTarget): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [kr, kb] = LUMA[tags.matrix] ?? [0.2126, 0.0722];
  const luma = kr * red + (1 - kr - kb) * green + kb * blue;
  const chroma = (value: number, share: number): number => 128 + (224 * (value - luma)) / (2 * (1 - share));
  const depth = pixelFormat.includes("10") ? 4 : 1;
  const [y, u, v] = [16 + 219 * luma, chroma(blue, kb), chroma(red, kr)].map((value) => Math.round(value * depth));
  return `lutyuv=y=${y}:u=${u}:v=${v}`;
}
