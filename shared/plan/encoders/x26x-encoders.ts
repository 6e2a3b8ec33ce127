// The options of x264 and x265.

import { gridArguments } from "../command/keyframe-grid.ts";
import { lightParams, X265 } from "../source/hdr-light.ts";
import { CHUNK_BUFFER_FILL, capArguments, meanArguments } from "./bitrates.ts";
import { levelText } from "./levels.ts";
import {
  hasQualityTarget,
  isContinuation,
  keyframeArguments,
  meanKbps,
  passArguments,
  rateFactorText,
  shareOf,
  type VideoEncodeOptions,
} from "./video-encode-options.ts";

export function x264Arguments(options: VideoEncodeOptions): string[] {
  const { profile, level } = options.spec;
  const params = [
    // Otherwise x264 would derive its level and bitrates from a nominal rate such as 1000 frames per second.
    ...(options.timing.isVariable ? [`fps=${meanFps(options)}`] : []),
    ...(options.timing.isSparse && hasBuffer(options) ? ["force-cfr=1"] : []),
    ...(isContinuation(options) ? [`vbv-init=${CHUNK_BUFFER_FILL}`] : []),
    // Otherwise a second pass writes settings into the header that suit only its own frames.
    ...(options.chunk ? ["stitchable=1"] : []),
  ];
  return [
    // x264's own default: each faster preset needs more bits for the same quality.
    ...["-preset", "medium", ...crfArguments("libx264", options)],
    ...(options.gridSeconds === null
      ? keyframeArguments(options)
      : [...gridArguments(options.gridSeconds, options.chunk?.sinceStart), "-keyint_min", "1", "-sc_threshold", "0"]),
    ...(profile ? ["-profile:v", profile] : []),
    ...(level ? ["-level", levelText(level)] : []),
    ...(params.length === 0 ? [] : ["-x264-params", params.join(":")]),
    ...passArguments(options),
  ];
}

/**
 * True if x264 limits the fill level of a decoder's buffer. A frame that lasts as long as eleven fills of the buffer
 * gets hardly any bits, unless x264 counts all frames as equally long. Measured: 14 to 31 dB instead of 66 from 13 s at
 * 1500 kbit/s on. The frames keep their own times.
 */
const hasBuffer = ({ spec: { rate } }: VideoEncodeOptions): boolean =>
  !hasQualityTarget(rate) || rate.maxrateKbps !== null;

export function x265Arguments(options: VideoEncodeOptions): string[] {
  const { profile } = options.spec;
  return [
    ...["-preset", "fast", ...crfArguments("libx265", options)],
    ...(options.gridSeconds === null
      ? keyframeArguments(options)
      : [...gridArguments(options.gridSeconds, options.chunk?.sinceStart), "-forced-idr", "1"]),
    ...(profile ? ["-profile:v", profile] : []),
    ...["-x265-params", x265Params(options).join(":")],
  ];
}

function x265Params(options: VideoEncodeOptions): string[] {
  const { level } = options.spec;
  const light = lightParams(options.light, X265);
  return [
    // Otherwise x265 writes to stderr.
    "log-level=error",
    ...(level ? [`level-idc=${levelText(level)}`] : []),
    ...(options.timing.isVariable ? [`fps=${meanFps(options)}`] : []),
    ...(options.pass ? [`pass=${options.pass.number}`, `stats=${options.pass.log}.log`] : []),
    // Decoding cannot start at the keyframe of an open GOP: frames shown before it need frames from before it.
    ...(options.gridSeconds === null ? [] : ["open-gop=0", "scenecut=0", "min-keyint=1"]),
    ...(isContinuation(options) ? [`vbv-init=${CHUNK_BUFFER_FILL}`] : []),
    // x265 writes its settings into the header, and the settings of chunks differ.
    ...(options.chunk ? ["info=0"] : []),
    ...(light.length > 0 ? ["hdr10=1", ...light] : []),
    // By default the first pass is as slow as the second.
    ...(options.chunk && options.pass ? ["slow-firstpass=0"] : []),
  ];
}

/** A constant rate factor, with or without a cap, or a mean bitrate. */
function crfArguments(encoder: "libx264" | "libx265", options: VideoEncodeOptions): string[] {
  const { rate } = options.spec;
  if (!hasQualityTarget(rate)) return meanArguments(meanKbps(options), rate.maxrateKbps, { share: shareOf(options) });
  const cap = rate.maxrateKbps === null ? [] : capArguments(rate.maxrateKbps);
  return ["-crf", rateFactorText(encoder, rate), ...cap];
}

const meanFps = ({ timing }: VideoEncodeOptions): number => Number(timing.fps.toFixed(3));
