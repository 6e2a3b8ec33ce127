// Decides whether a video is encoded in hardware, and writes the options of hardware encoders.
import type { TrackContainer } from "../../format/containers.ts";
import { HARDWARE_NAMES, type Hardware, type HardwareName } from "../../protocol/capabilities.ts";
import { gridArguments } from "../command/keyframe-grid.ts";
import type { Size } from "../source/frame-size.ts";
import { capArguments, defaultBitrateKbps, meanArguments } from "./bitrates.ts";
import { HARDWARE_CODECS, type HardwareCodec, hardwareEncoder } from "./hardware.ts";
import { hardwareQuality } from "./quality-steps.ts";
import {
  type EncodedVideo,
  keyframeArguments,
  meanKbps,
  shareOf,
  type VideoEncodeOptions,
} from "./video-encode-options.ts";
import { fourCharacterCode, WITHOUT_REORDERING } from "./video-encoders.ts";

export type HardwareEncoding = { readonly encoder: string; readonly codec: HardwareCodec; readonly device: Hardware };

/** Sides that all encoders support. Some encoders reject less than 145 pixels, and H.264 ends at 4096. */
const MIN_SIDE = 146;
const MAX_SIDE = 4096;

/** Profiles that hardware has, among the profiles with 8 bits of 4:2:0. */
const PROFILES: readonly (string | null)[] = [null, "main", "high"];

/** Hardware encoder for a video. Null if the node has none, or if no hardware supports the request. */
export function chooseHardware(
  spec: EncodedVideo,
  container: TrackContainer,
  frame: Size,
  device: Hardware | null,
): HardwareEncoding | null {
  const codec = hardwareCodec(spec, container, frame);
  if (!device || !codec) return null;
  const encoder = hardwareEncoder(codec, device.name);
  return device.encoders.includes(encoder) ? { encoder, codec, device } : null;
}

/** All hardware encoders, of any node, that can make a video. Empty if no hardware supports the request. */
export function hardwareEncoders(spec: EncodedVideo, container: TrackContainer, frame: Size): string[] {
  const codec = hardwareCodec(spec, container, frame);
  return codec ? HARDWARE_NAMES.map((name) => hardwareEncoder(codec, name)) : [];
}

/**
 * Returns null for features that some hardware lacks: other codecs, two passes, a level, formats other than 8 bits of
 * 4:2:0, a container without reordering. Also null for a VMAF, because a VMAF needs a search for a rate factor.
 */
function hardwareCodec(spec: EncodedVideo, container: TrackContainer, frame: Size): HardwareCodec | null {
  const sides = [frame.width, frame.height];
  const isSupported =
    !WITHOUT_REORDERING.has(container) &&
    sides.every((side) => side >= MIN_SIDE && side <= MAX_SIDE) &&
    !spec.twoPass &&
    !("vmaf" in spec.rate) &&
    spec.level === null &&
    (spec.pixelFormat ?? "yuv420p") === "yuv420p" &&
    PROFILES.includes(spec.profile);
  return isSupported ? (HARDWARE_CODECS.find((name) => name === spec.codec) ?? null) : null;
}

type HardwareOptions = Omit<VideoEncodeOptions, "pass" | "frame">;

/** ffmpeg's options for the video, from `-c:v` on. */
export function hardwareArguments({ encoder, codec, device }: HardwareEncoding, options: HardwareOptions): string[] {
  const { spec, container, gridSeconds, chunk } = options;
  return [
    ...["-c:v", encoder, ...SPEEDS[device.name], ...rateArguments(codec, device.name, options)],
    ...(gridSeconds === null
      ? keyframeArguments(options)
      : [...gridArguments(gridSeconds, chunk?.sinceStart), ...ONLY_FORCED[device.name]]),
    ...(spec.profile === null ? [] : ["-profile:v", spec.profile]),
    ...fourCharacterCode(spec.codec, container),
  ];
}

/** Presets in the middle of each scale. B-frames as references are not used: older generations of NVENC lack them. */
const SPEEDS: Readonly<Record<HardwareName, readonly string[]>> = {
  nvenc: ["-preset", "p5", "-tune", "hq", "-rc", "vbr", "-spatial-aq", "1"],
  qsv: ["-preset", "medium"],
  vaapi: [],
  videotoolbox: [],
};

/** IDR frames where keyframes are forced, and no keyframes elsewhere. */
const ONLY_FORCED: Readonly<Record<HardwareName, readonly string[]>> = {
  nvenc: ["-forced-idr", "1", "-no-scenecut", "1"],
  qsv: ["-forced_idr", "1", "-adaptive_i", "0"],
  vaapi: [],
  videotoolbox: [],
};

/** Options for a constant quality. */
const QUALITY: Readonly<Record<HardwareName, (value: string) => string[]>> = {
  nvenc: (value) => ["-cq", value, "-b:v", "0"],
  qsv: (value) => ["-global_quality", value],
  // The only mode that all drivers have.
  vaapi: (value) => ["-rc_mode", "CQP", "-qp", value],
  videotoolbox: (value) => ["-q:v", value],
};

/** Only NVENC supports a cap for a constant quality. The others use the cap as their mean. */
function rateArguments(codec: HardwareCodec, name: HardwareName, options: HardwareOptions): string[] {
  const { rate } = options.spec;
  const share = shareOf(options);
  if ("vmaf" in rate) throw new Error("Hardware has no rate factor");
  if ("quality" in rate) {
    const quality = QUALITY[name](String(hardwareQuality(codec, name, rate.quality)));
    if (rate.maxrateKbps === null) return quality;
    if (name === "nvenc") return [...quality, ...capArguments(rate.maxrateKbps)];
    const kbps = Math.min(rate.maxrateKbps, defaultBitrateKbps(codec, options.activeArea));
    return meanArguments(kbps, rate.maxrateKbps, { share });
  }
  return meanArguments(meanKbps(options), rate.maxrateKbps, { share });
}
