// Whether a activeArea is encoded in hardware, and what the hardware's encoder is told.
import type { TrackContainer } from "../../format/containers.ts";
import type { Hardware, HardwareName } from "../../protocol/capabilities.ts";
import type { Size } from "../filters/fit-frame.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { capArguments, defaultBitrateKbps, meanArguments } from "./bitrates.ts";
import { HARDWARE_CODECS, type HardwareCodec, hardwareEncoder } from "./hardware.ts";
import { gridArguments } from "./keyframe-grid.ts";
import { hardwareQuality } from "./quality-steps.ts";
import { type ChunkEncodeOptions, type EncodedVideo, fourCharacterCode } from "./video-encoders.ts";

export type HardwareEncoding = { readonly encoder: string; readonly codec: HardwareCodec; readonly device: Hardware };

/** Sides that all encoders take: some refuse below 145 pixels, and H.264's end at 4096. */
const MIN_SIDE = 146;
const MAX_SIDE = 4096;

/** Profiles that hardware has, of those with 8 bits of 4:2:0. */
const PROFILES: readonly (string | null)[] = [null, "main", "high"];
/** Containers for which the order of frames is kept simple; not every hardware can be told. */
const WITHOUT_REORDERING: readonly TrackContainer[] = ["avi", "asf"];

/**
 * The hardware encoder for a activeArea; null where there is none, or where it cannot do all that is wished: two passes, a
 * level, other pixels than 8 bits of 4:2:0.
 */
export function chooseHardware(
  spec: EncodedVideo,
  container: TrackContainer,
  frame: Size,
  device: Hardware | null,
): HardwareEncoding | null {
  const codec = HARDWARE_CODECS.find((name) => name === spec.codec);
  if (!device || !codec || WITHOUT_REORDERING.includes(container)) return null;
  const encoder = hardwareEncoder(codec, device.name);
  const sides = [frame.width, frame.height];
  const can =
    device.encoders.includes(encoder) &&
    sides.every((side) => side >= MIN_SIDE && side <= MAX_SIDE) &&
    !spec.twoPass &&
    spec.level === null &&
    (spec.pixelFormat ?? "yuv420p") === "yuv420p" &&
    PROFILES.includes(spec.profile);
  return can ? { encoder, codec, device } : null;
}

type HardwareAsk = {
  readonly spec: EncodedVideo;
  readonly container: TrackContainer;
  readonly activeArea: Size;
  readonly timing: Pick<FrameTiming, "fps">;
  /** Seconds between keyframes at fixed times; null: where the encoder likes. */
  readonly gridSeconds: number | null;
  readonly chunk: ChunkEncodeOptions | null;
};

/** As long as in software. */
const KEYFRAME_SECONDS = 5;

/** ffmpeg's options for the activeArea, from `-c:v` on. */
export function hardwareArguments({ encoder, codec, device }: HardwareEncoding, ask: HardwareAsk): string[] {
  const { spec, container, timing, gridSeconds } = ask;
  return [
    ...["-c:v", encoder, ...SPEEDS[device.name], ...rateArguments(codec, device.name, ask)],
    ...(gridSeconds === null
      ? ["-g", String(Math.max(1, Math.round(timing.fps * KEYFRAME_SECONDS)))]
      : [...gridArguments(gridSeconds, ask.chunk?.sinceStart), ...ONLY_FORCED[device.name]]),
    ...(spec.profile === null ? [] : ["-profile:v", spec.profile]),
    ...fourCharacterCode(spec.codec, container),
  ];
}

/** Presets in the middle of each scale; what NVENC's older generations lack (B-frames as references) is left alone. */
const SPEEDS: Readonly<Record<HardwareName, readonly string[]>> = {
  nvenc: ["-preset", "p5", "-tune", "hq", "-rc", "vbr", "-spatial-aq", "1"],
  qsv: ["-preset", "medium"],
  vaapi: [],
  videotoolbox: [],
};

/** Keyframes where they are asked for, each a clean beginning, and nowhere else. */
const ONLY_FORCED: Readonly<Record<HardwareName, readonly string[]>> = {
  nvenc: ["-forced-idr", "1", "-no-scenecut", "1"],
  qsv: ["-forced_idr", "1", "-adaptive_i", "0"],
  vaapi: [],
  videotoolbox: [],
};

/** How each is told a constant quality. */
const QUALITY: Readonly<Record<HardwareName, (value: string) => string[]>> = {
  nvenc: (value) => ["-cq", value, "-b:v", "0"],
  qsv: (value) => ["-global_quality", value],
  // The only mode that all drivers have.
  vaapi: (value) => ["-rc_mode", "CQP", "-qp", value],
  videotoolbox: (value) => ["-q:v", value],
};

/** Beside a constant quality only NVENC keeps a cap; the others then spend the cap as their mean. */
function rateArguments(codec: HardwareCodec, name: HardwareName, { spec, activeArea, chunk }: HardwareAsk): string[] {
  const { rate } = spec;
  const share = { share: chunk?.share ?? 1 };
  if ("quality" in rate) {
    const quality = QUALITY[name](String(hardwareQuality(codec, name, rate.quality)));
    if (rate.maxrateKbps === null) return quality;
    if (name === "nvenc") return [...quality, ...capArguments(rate.maxrateKbps)];
    return meanArguments(Math.min(rate.maxrateKbps, defaultBitrateKbps(codec, activeArea)), rate.maxrateKbps, share);
  }
  const kbps = rate.bitrateKbps ?? Math.min(defaultBitrateKbps(codec, activeArea), rate.maxrateKbps ?? Infinity);
  return meanArguments(kbps, rate.maxrateKbps, share);
}
