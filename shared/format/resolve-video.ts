// Resolves the video of a format: its codec and the specs that the codec's encoder supports.

import {
  isVmafCodec,
  type PixelFormat,
  VIDEO_TRAITS,
  type VideoCodec,
  type VideoTraits,
  VMAF_CODECS,
} from "./codecs.ts";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { RateTarget, VideoTrackSpec } from "./format-spec.ts";
import {
  readFps,
  readLevel,
  readMaxrate,
  readPixelFormat,
  readProfile,
  readQuality,
  readResolution,
  readSwitch,
  readVideoBitrate,
  readVideoCodec,
} from "./grammar/read-specs.ts";
import {
  FormatError,
  type RequestedSpecs,
  read,
  rejectSpecs,
  spelled,
  VIDEO_SPECS,
} from "./grammar/requested-specs.ts";
import { AUTOMATIC_RESOLUTION, peakKbps, type Resolution } from "./presets.ts";

/** Returns the video of a format; null if there is none. Throws FormatError. */
export function resolveVideo(container: TrackContainer, requested: RequestedSpecs): VideoTrackSpec | null {
  const codec = videoCodec(container, requested);
  if (codec === null) {
    rejectSpecs(requested, ENCODING_SPECS, `this ${container} format has no video`);
    return null;
  }
  if (codec === "copy") {
    rejectSpecs(requested, ENCODING_SPECS, "`copy` does not encode the video");
    return { codec, ...COPIED };
  }
  const resolution = read(requested, "resolution", readResolution) ?? AUTOMATIC_RESOLUTION;
  return {
    codec,
    size: resolution.size,
    rate: rateTarget(codec, resolution, requested),
    fps: read(requested, "fps", readFps) ?? null,
    ...bitstream(codec, requested),
    twoPass: read(requested, "2pass", readSwitch("2pass")) ?? false,
  };
}

const ENCODING_SPECS = VIDEO_SPECS.filter((spec) => spec !== "video_codec");
const COPIED = {
  size: AUTOMATIC_RESOLUTION.size,
  rate: { bitrateKbps: null, maxrateKbps: null },
  fps: null,
  pixelFormat: null,
  profile: null,
  level: null,
  twoPass: false,
};

function videoCodec(container: TrackContainer, requested: RequestedSpecs): VideoCodec | "copy" | null {
  const { video } = TRACK_CONTAINER_TRAITS[container];
  const codec = read(requested, "video_codec", readVideoCodec);
  if (codec === undefined) return video[0] ?? null;
  if (codec === null || (codec === "copy" ? video.length > 0 : video.includes(codec))) return codec;
  const allowed = video.length === 0 ? "none, only audio" : `${video.join(", ")}, copy`;
  throw new FormatError(
    "video_codec",
    `${container} does not support the video codec \`${codec}\`; allowed: ${allowed}`,
  );
}

function checkVmaf(codec: VideoCodec, vmaf: number): void {
  if (isVmafCodec(codec)) return;
  const allowed = `only ${VMAF_CODECS.join(", ")} support a VMAF, ${codec} supports \`quality=1\` to \`quality=5\``;
  throw new FormatError("quality", `\`quality=vmaf${vmaf}\` is not allowed: ${allowed}`);
}

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/**
 * Returns the rate target. A quality step replaces the bitrate. With a VMAF, the bitrate is an additional maximum. A
 * maximum below a preset's bitrate lowers the bitrate; a maximum below a requested bitrate is an error. For a codec
 * with a rate factor, a preset sets only the maximum, unless two passes are to hit the bitrate.
 */
function rateTarget(codec: VideoCodec, resolution: Resolution, requested: RequestedSpecs): RateTarget {
  const { rates } = VIDEO_TRAITS[codec];
  const missing = (["video_bitrate", "maxrate", "2pass"] as const).filter((spec) => !rates.includes(spec));
  rejectSpecs(
    requested,
    missing,
    `the encoder of ${codec} supports ${["`quality`", ...rates.map((spec) => `\`${spec}\``)].join(", ")}`,
  );
  const maxrateKbps = read(requested, "maxrate", readMaxrate) ?? null;
  const quality = read(requested, "quality", readQuality);
  const bitrateKbps = read(requested, "video_bitrate", readVideoBitrate);
  if (quality !== undefined) {
    if (requested.get("2pass") === "1") {
      throw new FormatError("2pass", "`2pass` requires a bitrate, which `quality` replaces; remove either");
    }
    if ("quality" in quality) return { ...quality, maxrateKbps };
    checkVmaf(codec, quality.vmaf);
    return { ...quality, maxrateKbps: least(maxrateKbps, bitrateKbps ?? null), rateFactor: null };
  }
  if (bitrateKbps !== undefined) {
    if (maxrateKbps !== null && maxrateKbps < bitrateKbps) {
      throw new FormatError(
        "maxrate",
        `\`maxrate=${maxrateKbps}k\` must not be less than the mean bitrate, ${bitrateKbps}k`,
      );
    }
    return { bitrateKbps, maxrateKbps };
  }
  const presetKbps = rates.includes("video_bitrate") ? resolution.bitrateKbps : null;
  if (presetKbps === null) return { bitrateKbps: null, maxrateKbps };
  if (isVmafCodec(codec) && requested.get("2pass") !== "1") {
    return { bitrateKbps: null, maxrateKbps: maxrateKbps ?? peakKbps(presetKbps) };
  }
  return { bitrateKbps: Math.min(presetKbps, maxrateKbps ?? presetKbps), maxrateKbps };
}

function bitstream(
  codec: VideoCodec,
  requested: RequestedSpecs,
): Pick<VideoTrackSpec, "pixelFormat" | "profile" | "level"> {
  const traits = VIDEO_TRAITS[codec];
  const pixelFormat = read(requested, "pix_fmt", readPixelFormat) ?? null;
  const profile = read(requested, "vprofile", readProfile) ?? null;
  const level = read(requested, "level", readLevel) ?? null;
  checkOneOf("pix_fmt", pixelFormat, traits.pixelFormats, codec);
  checkOneOf("vprofile", profile, Object.keys(traits.profiles), codec);
  checkOneOf("level", level, traits.levels, codec);
  if (profile !== null) checkProfile(profile, pixelFormat ?? "yuv420p", traits);
  return { pixelFormat, profile, level };
}

function checkOneOf(
  spec: "pix_fmt" | "vprofile" | "level",
  value: string | number | null,
  allowed: readonly (string | number)[],
  codec: VideoCodec,
): void {
  if (value === null || allowed.includes(value)) return;
  const rule = allowed.length === 0 ? `has no \`${spec}\`` : `supports: ${allowed.join(", ")}`;
  throw new FormatError(spec, `${spelled(spec, String(value))} is not allowed: ${codec} ${rule}`);
}

function checkProfile(
  profile: keyof VideoTraits["profiles"],
  pixelFormat: PixelFormat,
  { profiles }: VideoTraits,
): void {
  const supported = profiles[profile] ?? [];
  if (supported.includes(pixelFormat)) return;
  throw new FormatError(
    "vprofile",
    `The profile \`${profile}\` supports ${supported.join(", ")}, not \`pix_fmt=${pixelFormat}\``,
  );
}
