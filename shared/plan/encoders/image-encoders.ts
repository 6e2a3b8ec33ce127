// The encoder of each image format, and its options.
import type { Failure } from "../../errors.ts";
import type { ImageContainer } from "../../format/containers.ts";
import type { Need } from "../../protocol/needs.ts";
import { type FfmpegCapabilities, meets } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import type { SoftwareEncoder } from "./software-encoders.ts";

export type ImageEncoding = {
  readonly encoder: SoftwareEncoder;
  readonly extension: string;
  /** From RGB to the format of the encoder. */
  readonly filters: readonly Filter[];
  /** The same from RGB with alpha; left out if the format or its encoder has no alpha. */
  readonly alphaFilters?: readonly Filter[];
  readonly argv: readonly string[];
};

/** Frames per second of animated images: whole in gif's hundredths of a second, and enough for a preview. */
export const ANIMATION_FPS = 10;

/**
 * JPEG (JFIF) and WebP (RFC 9649 §2) use the matrix of BT.601, and readers of AVIF assume it. JPEG and AVIF have full
 * range, WebP has limited range.
 */
const toYuv = (range: "pc" | "tv", pixelFormat: string): string[] => [
  `scale=out_color_matrix=bt601:out_range=${range}`,
  `format=${pixelFormat}`,
];

/**
 * A palette in which the colors that change from frame to frame count most. Only the rectangle that changed is dithered
 * again, in a fixed pattern: static areas do not flicker, and the file stays small. `palettegen` counts each frame when
 * the next one comes, so one more frame at the end makes it count the last one.
 */
const OWN_PALETTE: Filter = {
  paletteFilters: ["tpad=stop=1", "palettegen=stats_mode=diff"],
  use: "paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle",
};

/**
 * Qualities: jpg has its best quantizer (of 2 to 31). The others are well above what is usual on the web, for half of
 * jpg's bytes. Measured on a noisy frame of 720p, bytes and PSNR in RGB: jpg 383 k, 31.6 dB; webp 80 212 k, 29.6; avif
 * 24 181 k, 30.5.
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
    // Images that follow each other are unrelated, so all are keyframes: here `-g 0` means that.
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

/** The encoder of such images, and the muxer that some builds lack. */
export const imageNeeds = (container: ImageContainer): Need[] => [
  { kind: "encoder", anyOf: [IMAGE_ENCODINGS[container].encoder] },
  // AVIF is written through the muxer for sequences, which uses the muxer for AVIF.
  ...(container === "avif" ? [{ kind: "muxer" as const, anyOf: ["avif"] }] : []),
];

/** Why a node cannot write such images; null if it can. Another node may, so this may be tried again. */
export function imageEncoderFailure(container: ImageContainer, capabilities: FfmpegCapabilities): Failure | null {
  if (imageNeeds(container).every((need) => meets(capabilities, need))) return null;
  const { encoder } = IMAGE_ENCODINGS[container];
  const message = `The ffmpeg build of the encoder node has no encoder for \`${container}\` that works (${encoder}).`;
  return { code: "encoder_not_available", message };
}
