// The options of libvpx (VP8, VP9), SVT-AV1 and libaom (AV1).
import { gridArguments, ONLY_FORCED } from "../command/keyframe-grid.ts";
import { lightParams, SVT_AV1 } from "../source/hdr-light.ts";
import { capArguments, meanArguments } from "./bitrates.ts";
import {
  hasQualityTarget,
  keyframeArguments,
  meanKbps,
  passArguments,
  type QualityTarget,
  qualityText,
  rateFactorText,
  shareOf,
  type VideoEncodeOptions,
} from "./video-encode-options.ts";

/**
 * Uses a single thread: for VP8, the threads of libvpx wait for each other in loops. Four encodes took 27 s on two
 * cores instead of 1.9 s. With a single thread, an encode takes 0.8 s instead of 0.5 s.
 */
export function vp8Arguments(options: VideoEncodeOptions): string[] {
  const speed = ["-threads", "1", "-deadline", "good", "-cpu-used", "2", "-auto-alt-ref", "1", "-lag-in-frames", "16"];
  return [...speed, ...rateArguments("libvpx", options), ...keyframeArguments(options), ...passArguments(options)];
}

export function vp9Arguments(options: VideoEncodeOptions): string[] {
  // Tile columns let players decode wide frames in parallel. Narrower frames would lose more bits than they save time.
  const columns = options.frame.width >= 1920 ? ["-tile-columns", "2"] : [];
  const speed = ["-deadline", "good", "-cpu-used", "4", "-row-mt", "1", ...columns];
  return [
    ...speed,
    ...rateArguments("libvpx-vp9", options),
    ...closedKeyframes(options, ONLY_FORCED),
    ...passArguments(options),
  ];
}

/** Keyframes of VP9 and AV1, whose groups of frames are always closed. `onGrid`: further options of a grid. */
const closedKeyframes = (options: VideoEncodeOptions, onGrid: readonly string[] = []): string[] =>
  options.gridSeconds === null
    ? keyframeArguments(options)
    : [...gridArguments(options.gridSeconds, options.chunk?.sinceStart), ...onGrid];

/** SVT-AV1 supports a cap only with constant quality. It keeps a requested mean without a cap. */
export function svtAv1Arguments(options: VideoEncodeOptions): string[] {
  const { rate } = options.spec;
  const cap = rate.maxrateKbps === null ? [] : capArguments(rate.maxrateKbps);
  const rates = hasQualityTarget(rate)
    ? ["-crf", rateFactorText("libsvtav1", rate), ...cap]
    : ["-b:v", `${Math.round(meanKbps(options) * shareOf(options))}k`];
  // SVT-AV1 rejects more than 240 frames per second, even if only the time base is that fine.
  const fps = options.timing.isVariable ? [`fps-num=${Math.round(options.timing.fps * 1000)}`, "fps-denom=1000"] : [];
  // Until version 6.1, ffmpeg does not do this itself, and SVT-AV1 then accepts it only with a constant quality.
  const forced = options.gridSeconds !== null && hasQualityTarget(rate) ? ["enable-force-key-frames=1"] : [];
  const params = [...fps, ...forced, ...lightParams(options.light, SVT_AV1)];
  const svt = params.length === 0 ? [] : ["-svtav1-params", params.join(":")];
  return ["-preset", "8", ...rates, ...closedKeyframes(options), ...svt];
}

export const aomAv1Arguments = (options: VideoEncodeOptions): string[] => [
  ...["-cpu-used", "6", "-row-mt", "1", ...rateArguments("libaom-av1", options)],
  ...[...closedKeyframes(options, ONLY_FORCED), ...passArguments(options)],
];

/** VP8 has quality steps only. */
const stepText = (rate: QualityTarget): string => qualityText("libvpx", "quality" in rate ? rate.quality : 3);

/**
 * libvpx and libaom: a constant quality, a constant quality with a maximum bitrate, or a mean. Their caps are means
 * over the buffer. For VP8, a missing bitrate means 200k, so its constant quality gets a bitrate that it never reaches.
 */
function rateArguments(encoder: "libvpx" | "libvpx-vp9" | "libaom-av1", options: VideoEncodeOptions): string[] {
  const { rate } = options.spec;
  if (!hasQualityTarget(rate)) return meanArguments(meanKbps(options), rate.maxrateKbps, { share: shareOf(options) });
  const crf = ["-crf", encoder === "libvpx" ? stepText(rate) : rateFactorText(encoder, rate)];
  if (rate.maxrateKbps !== null) return [...crf, "-b:v", `${rate.maxrateKbps}k`, ...capArguments(rate.maxrateKbps)];
  return [...crf, "-b:v", encoder === "libvpx" ? "100M" : "0"];
}
