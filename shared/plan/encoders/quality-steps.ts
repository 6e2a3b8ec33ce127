// `quality` 1–5 in the terms of each encoder: measured, with the reasoning in docs/encoding.md.
import { AppError } from "../../errors.ts";
import type { HardwareName } from "../../protocol/capabilities.ts";
import type { VideoEncoder } from "./choose-encoder.ts";
import type { HardwareCodec } from "./hardware.ts";

/** For the steps 1, 2, 3, 4, 5. */
type Steps = readonly [number, number, number, number, number];

type SteppedEncoder = Exclude<VideoEncoder, "prores" | "prores_ks" | "dnxhd">;

/**
 * Constant rate factors, and quantisers where an encoder has nothing better.
 *
 * x264 at 720p with preset medium (VMAF): 18 → 96, 21 → 94, 24 → 91, 28 → 85, 32 → 76. So 5 is beyond what an eye tells from
 * the source and 1 is plainly small; 4.3 steps of CRF are 40 % of the bytes, which is about one step here. The others are set
 * to about the same VMAF.
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

/** NVENC's constant quality; a table of docs/encoding.md, from NVIDIA's scale, which follows the codec's quantiser. */
const NVENC_STEPS: Readonly<Record<HardwareCodec, Steps>> = {
  h264: [35, 31, 27, 24, 20],
  hevc: [37, 33, 29, 26, 22],
  av1: [47, 41, 36, 31, 26],
};
/** VideoToolbox counts from 1 to 100, upwards. */
const VIDEOTOOLBOX_STEPS: Steps = [35, 45, 55, 65, 75];

/** The value of a quality step for an encoder. */
export const qualityStep = (encoder: SteppedEncoder, quality: number): number => at(STEPS[encoder], quality);

/** The value of a quality step for hardware: a quantiser-like number, or VideoToolbox's percentage. */
export function hardwareQuality(codec: HardwareCodec, hardware: HardwareName, quality: number): number {
  if (hardware === "videotoolbox") return at(VIDEOTOOLBOX_STEPS, quality);
  // Intel's scale lies one below.
  return at(NVENC_STEPS[codec], quality) - (hardware === "qsv" ? 1 : 0);
}

function at(steps: Steps, quality: number): number {
  const value = steps[quality - 1];
  if (value === undefined) throw new AppError("internal_error", `There is no quality step ${quality}`);
  return value;
}
