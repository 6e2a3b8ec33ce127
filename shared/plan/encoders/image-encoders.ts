// The encoder of each image format, and its options.
import type { Failure } from "../../errors.ts";
import type { ImageContainer } from "../../format/containers.ts";
import type { ImageFormat } from "../../format/format-spec.ts";
import { BEST_QUALITY } from "../../format/presets.ts";
import type { Need } from "../../protocol/needs.ts";
import { type FfmpegCapabilities, meets } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import type { SoftwareEncoder } from "./software-encoders.ts";

export type ImageEncoding = {
  readonly encoder: SoftwareEncoder;
  readonly extension: string;
  /** Filters from RGB to the format of the encoder. */
  readonly filters: readonly Filter[];
  /** Filters from RGB with alpha; left out if the format or its encoder has no alpha. */
  readonly alphaFilters?: readonly Filter[];
  readonly argv: readonly string[];
  /** Option for the quality, and its values for the steps 1 to 5. Left out if the encoder has no quality. */
  readonly quality?: { readonly option: string; readonly steps: readonly [number, number, number, number, number] };
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
 * A palette that favors the colors that change from frame to frame. Only the rectangle that changed is dithered again,
 * in a fixed pattern. So static areas do not flicker, and the file stays small. `palettegen` counts each frame when the
 * next frame comes. An additional frame at the end makes it count the last frame.
 */
const ownPalette = (colors: string): Filter => ({
  paletteFilters: ["tpad=stop=1", `palettegen=${colors}stats_mode=diff`],
  use: "paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle",
});
const OWN_PALETTE = ownPalette("");

/** Colors of a gif's palette for the quality steps 1 to 5. */
const GIF_COLORS = [16, 32, 64, 128, 256] as const;

/**
 * Qualities: jpg has its best quantizer (of 2 to 31) in step 5. The other formats are well above the usual quality on
 * the web, for half of jpg's bytes. Measured on a noisy frame of 720p, bytes and PSNR in RGB: jpg 383 k, 31.6 dB; webp
 * 80 212 k, 29.6; avif 24 181 k, 30.5. Lower steps are 2 to 3 dB apart (docs/images.md).
 */
export const IMAGE_ENCODINGS: Readonly<Record<ImageContainer, ImageEncoding>> = {
  jpg: {
    encoder: "mjpeg",
    extension: "jpg",
    filters: toYuv("pc", "yuvj420p"),
    argv: [],
    quality: { option: "-q:v", steps: [22, 12, 8, 4, 2] },
  },
  png: { encoder: "png", extension: "png", filters: ["format=rgb24"], alphaFilters: ["format=rgba"], argv: [] },
  webp: {
    encoder: "libwebp",
    extension: "webp",
    filters: toYuv("tv", "yuv420p"),
    alphaFilters: toYuv("tv", "yuva420p"),
    argv: [],
    quality: { option: "-quality", steps: [15, 30, 50, 65, 80] },
  },
  avif: {
    encoder: "libaom-av1",
    extension: "avif",
    filters: toYuv("pc", "yuv420p"),
    // Consecutive images are unrelated, so all are keyframes. For this encoder, `-g 0` means keyframes only.
    argv: ["-usage", "allintra", "-cpu-used", "6", "-g", "0"],
    quality: { option: "-crf", steps: [48, 42, 36, 30, 24] },
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
    argv: ["-loop", "0"],
    quality: { option: "-quality", steps: [15, 30, 50, 65, 75] },
  },
};

/** Returns the filters for images of a format, and the arguments of their encoder. */
export function imageEncoding({ container, quality = BEST_QUALITY }: Pick<ImageFormat, "container" | "quality">) {
  const encoding = IMAGE_ENCODINGS[container];
  const { option, steps } = encoding.quality ?? {};
  const value = steps?.[quality - 1];
  const argv = option && value !== undefined ? [...encoding.argv, option, String(value)] : encoding.argv;
  if (container !== "gif" || quality === BEST_QUALITY) return { ...encoding, argv };
  const palette = [ownPalette(`max_colors=${GIF_COLORS[quality - 1]}:`)];
  return { ...encoding, argv, filters: palette, alphaFilters: palette };
}

/** The encoder of such images, and the muxer that some builds lack. */
export const imageNeeds = (container: ImageContainer): Need[] => [
  { kind: "encoder", anyOf: [IMAGE_ENCODINGS[container].encoder] },
  // AVIF is written through the muxer for sequences, which uses the muxer for AVIF.
  ...(container === "avif" ? [{ kind: "muxer" as const, anyOf: ["avif"] }] : []),
];

/**
 * Returns the reason why a node cannot write such images; null if it can. Another node may have the encoder, so a retry
 * is possible.
 */
export function imageEncoderFailure(container: ImageContainer, capabilities: FfmpegCapabilities): Failure | null {
  if (imageNeeds(container).every((need) => meets(capabilities, need))) return null;
  const { encoder } = IMAGE_ENCODINGS[container];
  const message = `The ffmpeg build of the encoder node has no encoder for \`${container}\` that works (${encoder}).`;
  return { code: "encoder_not_available", message };
}
