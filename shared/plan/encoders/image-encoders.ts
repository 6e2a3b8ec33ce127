// How each image format is written.
import type { Failure } from "../../errors.ts";
import type { ImageContainer } from "../../format/containers.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import { ANIMATION_FPS } from "../thumbnails/thumbnail-timestamps.ts";
import type { SoftwareEncoder } from "./encoders.ts";

export type ImageEncoding = {
  readonly encoder: SoftwareEncoder;
  readonly extension: string;
  /** From RGB to what the encoder takes. */
  readonly filters: readonly Filter[];
  /** The same from RGB with alpha; left out: the format, or its encoder, has none. */
  readonly alphaFilters?: readonly Filter[];
  readonly argv: readonly string[];
};

/**
 * The matrix of BT.601 is what JPEG (JFIF) and WebP (RFC 9649 §2) mean, and what readers of AVIF assume; JPEG and AVIF use all
 * values of a sample, WebP those of video.
 */
const toYuv = (range: "pc" | "tv", pixelFormat: string): string[] => [
  `scale=out_color_matrix=bt601:out_range=${range}`,
  `format=${pixelFormat}`,
];

/**
 * The colours that change from frame to frame count most for the palette, and only the rectangle that changed is dithered
 * anew, in a fixed pattern: so still parts stay still, which keeps them quiet and the file small. `palettegen` counts what
 * a frame changes of the one before, as that was: another frame at the end makes it count the last one.
 */
const OWN_PALETTE: Filter = {
  paletteFilters: ["tpad=stop=1", "palettegen=stats_mode=diff"],
  use: "paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle",
};

/**
 * Qualities: jpg at its best quantiser (of 2 to 31), the others well above what the web is used to, for half of its bytes.
 * Measured on a noisy picture of 720p, bytes and PSNR in RGB: jpg 383 k, 31.6 dB; webp 80 212 k, 29.6; avif 24 181 k, 30.5.
 */
export const IMAGE_ENCODINGS: Readonly<Record<ImageContainer, ImageEncoding>> = {
  jpg: {
    encoder: "mjpeg",
    extension: "jpg",
    filters: toYuv("pc", "yuvj420p"),
    argv: ["-q:v", "2"],
  },
  png: { encoder: "png", extension: "png", filters: ["format=rgb24"], alphaFilters: ["format=rgba"], argv: [] },
  webp: {
    encoder: "libwebp",
    extension: "webp",
    filters: toYuv("tv", "yuv420p"),
    alphaFilters: toYuv("tv", "yuva420p"),
    argv: ["-quality", "80"],
  },
  avif: {
    encoder: "libaom-av1",
    extension: "avif",
    filters: toYuv("pc", "yuv420p"),
    // Pictures that follow each other have nothing to do with each other: key frames alone, which `-g 0` means here.
    argv: ["-usage", "allintra", "-cpu-used", "6", "-crf", "24", "-g", "0"],
  },
  gif: {
    encoder: "gif",
    extension: "gif",
    filters: [OWN_PALETTE],
    alphaFilters: [OWN_PALETTE],
    argv: ["-loop", "0", "-final_delay", String(100 / ANIMATION_FPS)],
  },
  webp_anim: {
    encoder: "libwebp_anim",
    extension: "webp",
    filters: toYuv("tv", "yuv420p"),
    alphaFilters: toYuv("tv", "yuva420p"),
    argv: ["-loop", "0", "-quality", "75"],
  },
};

/** Why a node cannot write such images; null when it can. Another node may, so this may be tried again. */
export function imageEncoderFailure(
  container: ImageContainer,
  { encoders, muxers }: FfmpegCapabilities,
): Failure | null {
  const { encoder } = IMAGE_ENCODINGS[container];
  // Written through the muxer for sequences, which asks this one.
  const muxes = container !== "avif" || muxers.includes("avif");
  if (encoders.includes(encoder) && muxes) return null;
  const message = `The ffmpeg build of the encoder node has no encoder for \`${container}\` that works (${encoder}).`;
  return { code: "encoder_not_available", message };
}
