// `quality` 1–5 as a value of each encoder: measured, with the reasons in docs/encoding.md.
import { AppError } from "../../errors.ts";
import type { HardwareName } from "../../protocol/capabilities.ts";
import type { VideoEncoder } from "./choose-encoder.ts";
import type { HardwareCodec } from "./hardware.ts";

/** For the steps 1, 2, 3, 4, 5. */
type Steps = readonly [number, number, number, number, number];

type SteppedEncoder = Exclude<VideoEncoder, "prores" | "prores_ks" | "dnxhd">;

/**
 * Constant rate factors, or quantizers for encoders without a rate factor. VMAF of x264 with preset medium at 720p: 18
 * → 96, 21 → 94, 24 → 91, 28 → 85, 32 → 76. So 5 looks like the source, and 1 is clearly worse and small. 4.3 steps of
 * CRF, about a single quality step here, save 40 % of the bytes. The values of the other encoders give about the same
 * VMAF.
 */
const STEPS: Readonly<Record<SteppedEncoder, Steps>> = {
  libx264: [32, 28, 24, 21, 18],
  libx265: [34, 30, 26, 23, 20],
  "libvpx-vp9": [48, 42, 37, 32, 26],
  libsvtav1: [50, 42, 36, 31, 26],
  "libaom-av1": [50, 42, 36, 31, 26],
  libvpx: [60, 52, 42, 34, 24],
  libtheora: [3, 4, 6, 7, 8],
  mpeg4: [16, 10, 6, 5, 3],
  mpeg2video: [16, 10, 6, 5, 3],
  flv: [16, 10, 6, 5, 3],
  h263: [16, 10, 6, 5, 3],
  wmv2: [16, 10, 6, 5, 3],
  mjpeg: [28, 20, 11, 7, 4],
};

/** NVENC's constant quality. NVIDIA's scale follows the codec's quantizer; docs/encoding.md has the table. */
const NVENC_STEPS: Readonly<Record<HardwareCodec, Steps>> = {
  h264: [35, 31, 27, 24, 20],
  hevc: [37, 33, 29, 26, 22],
  av1: [47, 41, 36, 31, 26],
};
/** VideoToolbox has a scale from 1 to 100, best last. */
const VIDEOTOOLBOX_STEPS: Steps = [35, 45, 55, 65, 75];

/** Value of a quality step for an encoder. */
export const qualityStep = (encoder: SteppedEncoder, quality: number): number => at(STEPS[encoder], quality);

/** Value of a quality step for hardware: like a quantizer, or a percentage for VideoToolbox. */
export function hardwareQuality(codec: HardwareCodec, hardware: HardwareName, quality: number): number {
  if (hardware === "videotoolbox") return at(VIDEOTOOLBOX_STEPS, quality);
  // Intel's scale is lower by 1.
  return at(NVENC_STEPS[codec], quality) - (hardware === "qsv" ? 1 : 0);
}

function at(steps: Steps, quality: number): number {
  const value = steps[quality - 1];
  if (value === undefined) throw new AppError("internal_error", `There is no quality step ${quality}`);
  return value;
}
