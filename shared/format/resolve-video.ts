// The picture of a format: its codec, and whether the codec's encoder can do what was asked of it.
import { type AskedSpecs, FormatError, PICTURE_SPECS, read, refuseSpecs, spelled } from "./asked-specs.ts";
import { type PixelFormat, VIDEO_TRAITS, type VideoCodec, type VideoTraits } from "./codecs.ts";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { RateTarget, VideoTrackSpec } from "./format-spec.ts";
import { AUTOMATIC_RESOLUTION, type Resolution } from "./presets.ts";
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
} from "./read-specs.ts";

/** The picture of a format; null when there is none. Throws FormatError. */
export function resolveVideo(container: TrackContainer, asked: AskedSpecs): VideoTrackSpec | null {
  const codec = videoCodec(container, asked);
  if (codec === null) {
    refuseSpecs(asked, ENCODING_SPECS, `this format of ${container} has no picture`);
    return null;
  }
  if (codec === "copy") {
    refuseSpecs(asked, ENCODING_SPECS, "`copy` takes the picture as it is");
    return { codec, ...AS_IT_IS };
  }
  const resolution = read(asked, "resolution", readResolution) ?? AUTOMATIC_RESOLUTION;
  return {
    codec,
    size: resolution.size,
    rate: rateTarget(codec, resolution, asked),
    fps: read(asked, "fps", readFps) ?? null,
    ...bitstream(codec, asked),
    twoPass: read(asked, "2pass", readSwitch("2pass")) ?? false,
  };
}

const ENCODING_SPECS = PICTURE_SPECS.filter((spec) => spec !== "video_codec");
const AS_IT_IS = {
  size: AUTOMATIC_RESOLUTION.size,
  rate: { bitrateKbps: null, maxrateKbps: null },
  fps: null,
  pixelFormat: null,
  profile: null,
  level: null,
  twoPass: false,
};

function videoCodec(container: TrackContainer, asked: AskedSpecs): VideoCodec | "copy" | null {
  const { video } = TRACK_CONTAINER_TRAITS[container];
  const codec = read(asked, "video_codec", readVideoCodec);
  if (codec === undefined) return video[0] ?? null;
  if (codec === null || (codec === "copy" ? video.length > 0 : video.includes(codec))) return codec;
  const holds = video.length === 0 ? "sound only" : `${video.join(", ")}, copy`;
  throw new FormatError("video_codec", `${container} cannot hold the video codec \`${codec}\`; it holds: ${holds}`);
}

/**
 * Quality replaces the bitrate. A cap goes with either: below a preset's own bitrate it lowers that, below one that was
 * asked for it is a contradiction.
 */
function rateTarget(codec: VideoCodec, resolution: Resolution, asked: AskedSpecs): RateTarget {
  const { rates } = VIDEO_TRAITS[codec];
  const missing = (["video_bitrate", "maxrate", "2pass"] as const).filter((spec) => !rates.includes(spec));
  refuseSpecs(
    asked,
    missing,
    `the encoder of ${codec} takes ${["`quality`", ...rates.map((spec) => `\`${spec}\``)].join(", ")}`,
  );
  const maxrateKbps = read(asked, "maxrate", readMaxrate) ?? null;
  const quality = read(asked, "quality", readQuality);
  const bitrateKbps = read(asked, "video_bitrate", readVideoBitrate);
  if (quality !== undefined) {
    if (asked.get("2pass") === "1") {
      throw new FormatError("2pass", "`2pass` shares out a bitrate, which `quality` replaces: leave one of them out");
    }
    return { quality, maxrateKbps };
  }
  if (bitrateKbps !== undefined) {
    if (maxrateKbps !== null && maxrateKbps < bitrateKbps) {
      throw new FormatError(
        "maxrate",
        `The cap \`maxrate=${maxrateKbps}k\` is below the mean bitrate, ${bitrateKbps}k`,
      );
    }
    return { bitrateKbps, maxrateKbps };
  }
  const presetKbps = rates.includes("video_bitrate") ? resolution.bitrateKbps : null;
  return { bitrateKbps: presetKbps && Math.min(presetKbps, maxrateKbps ?? presetKbps), maxrateKbps };
}

function bitstream(codec: VideoCodec, asked: AskedSpecs): Pick<VideoTrackSpec, "pixelFormat" | "profile" | "level"> {
  const traits = VIDEO_TRAITS[codec];
  const pixelFormat = read(asked, "pix_fmt", readPixelFormat) ?? null;
  const profile = read(asked, "vprofile", readProfile) ?? null;
  const level = read(asked, "level", readLevel) ?? null;
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
  const which = allowed.length === 0 ? `has no \`${spec}\`` : `has: ${allowed.join(", ")}`;
  throw new FormatError(spec, `${spelled(spec, String(value))} is not possible: ${codec} ${which}`);
}

function checkProfile(
  profile: keyof VideoTraits["profiles"],
  pixelFormat: PixelFormat,
  { profiles }: VideoTraits,
): void {
  const holds = profiles[profile] ?? [];
  if (holds.includes(pixelFormat)) return;
  throw new FormatError(
    "vprofile",
    `The profile \`${profile}\` holds ${holds.join(", ")}, not \`pix_fmt=${pixelFormat}\``,
  );
}
