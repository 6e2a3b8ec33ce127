// Converts the video and audio of MediaConvert's outputs.
import type { AudioParts, VideoParts } from "../format-key.ts";
import type { Reader } from "../reader.ts";
import type { Rendition } from "../stream-variants.ts";

/** Returns the settings of a codec, which are in a member such as `H264Settings`. */
export function codecSettings(settings: Reader): Reader {
  const name = settings.names().find((member) => /Settings$/.test(member));
  return settings.at(name ?? "Settings");
}

export function renditionOf(output: Reader): Rendition {
  const video = output.at("VideoDescription");
  const [audio] = output.at("AudioDescriptions").list();
  return { video: video.exists ? videoOf(video) : null, audio: audio === undefined ? null : audioOf(audio) };
}

const kilobits = (value: Reader): number | undefined => {
  const bits = value.number();
  return bits === undefined ? undefined : bits / 1000;
};

const CODECS: Readonly<Record<string, string>> = { H_264: "h264", H_265: "hevc", MPEG2: "mpeg2", XAVC: "h264" };

function videoOf(video: Reader): VideoParts {
  const settings = video.at("CodecSettings");
  const codec = settings.at("Codec").text();
  const options = codecSettings(settings);
  const level = /^LEVEL_(\d)(?:_(\d))?$/.exec(options.at("CodecLevel").text() ?? "");
  const profile = options.at("CodecProfile").text()?.toLowerCase();
  return {
    codec: codec !== undefined && Object.hasOwn(CODECS, codec) ? CODECS[codec] : codec,
    width: video.at("Width").number(),
    height: video.at("Height").number(),
    ...rateOf(options),
    fps: frameRateOf(options),
    profile: profile?.startsWith("main_main") ? "main" : profile,
    level: level === null ? undefined : Number(level[1]) * 10 + Number(level[2] ?? 0),
  };
}

function rateOf(options: Reader): Partial<VideoParts> {
  const level = options.at("QvbrSettings").at("QvbrQualityLevel").number();
  const maxrateKbps = kilobits(options.at("MaxBitrate"));
  const kbps = kilobits(options.at("Bitrate"));
  // MediaConvert's quality scale has twice as many steps. Without a level, MediaConvert chooses it.
  const isQuality = options.at("RateControlMode").text() === "QVBR";
  if (isQuality) return { quality: Math.ceil((level ?? 7) / 2), maxrateKbps };
  const twoPass = /^MULTI_PASS/.test(options.at("QualityTuningLevel").text() ?? "") && kbps !== undefined;
  return { kbps, ...(kbps === undefined ? { maxrateKbps } : {}), twoPass };
}

/** Returns frames per second; undefined for the source's frame rate. */
export function frameRateOf(options: Reader): number | undefined {
  const numerator = options.at("FramerateNumerator").number();
  const denominator = options.at("FramerateDenominator").number() ?? 1;
  const control = options.at("FramerateControl").text();
  if (numerator === undefined || denominator <= 0 || control === "INITIALIZE_FROM_SOURCE") return undefined;
  return numerator / denominator;
}

const CHANNELS: Readonly<Record<string, number>> = {
  CODING_MODE_1_0: 1,
  CODING_MODE_2_0: 2,
  CODING_MODE_5_1: 6,
  CODING_MODE_1_1: 2,
  CODING_MODE_3_2_LFE: 6,
  AD_RECEIVER_MIX: 1,
};

export function audioOf(audio: Reader): AudioParts {
  const settings = audio.at("CodecSettings");
  const options = codecSettings(settings);
  const mode = options.at("CodingMode").text() ?? "";
  return {
    codec: settings.at("Codec").text(),
    kbps: kilobits(options.at("Bitrate")),
    sampleRate: options.at("SampleRate").number(),
    channels: options.at("Channels").number() ?? (Object.hasOwn(CHANNELS, mode) ? CHANNELS[mode] : undefined),
  };
}

const CONTAINERS: Readonly<Record<string, readonly [container: string, extension: string]>> = {
  MP4: ["mp4", "mp4"],
  F4V: ["mp4", "f4v"],
  MOV: ["mov", "mov"],
  M2TS: ["mpegts", "m2ts"],
  WEBM: ["webm", "webm"],
  OGG: ["ogg", "ogg"],
  MXF: ["mxf", "mxf"],
  GIF: ["gif", "gif"],
};
const RAW_AUDIO: Readonly<Record<string, string>> = { MP3: "mp3", WAV: "wav", FLAC: "flac", AAC: "aac", OPUS: "opus" };

export function containerOf(output: Reader): readonly [container: string, extension: string] {
  const name = output.at("ContainerSettings").at("Container").text() ?? "MP4";
  const audio = output.at("AudioDescriptions").list()[0]?.at("CodecSettings").at("Codec").text() ?? "";
  if (name === "RAW" && Object.hasOwn(RAW_AUDIO, audio)) return [RAW_AUDIO[audio] ?? "mp4", RAW_AUDIO[audio] ?? "mp4"];
  return (Object.hasOwn(CONTAINERS, name) ? CONTAINERS[name] : undefined) ?? [name.toLowerCase(), "mp4"];
}
