// Builds formats from the settings of other services. Omits and reports settings that this service does not support.
import { AUDIO_TRAITS, type AudioCodec, VIDEO_TRAITS, type VideoCodec } from "../format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  TRACK_CONTAINER_TRAITS,
  type TrackContainer,
} from "../format/containers.ts";
import { FRAME_RATES, MAX_SIDE, MAX_VIDEO_KBPS, MIN_VIDEO_KBPS } from "../format/presets.ts";
import type { Json } from "./note.ts";

/** Clockwise rotations in degrees, as parameters of an output. */
export const ROTATIONS: Readonly<Record<string, Json>> = {
  "90": { transpose: 1 },
  "180": { vflip: true, hflip: true },
  "270": { transpose: 2 },
};

export type VideoParts = {
  readonly codec?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly kbps?: number | undefined;
  readonly maxrateKbps?: number | undefined;
  /** Quality step, 1 to 5. */
  readonly quality?: number | undefined;
  readonly fps?: number | undefined;
  readonly profile?: string | undefined;
  /** Ten times the level number, for example 41 for 4.1. */
  readonly level?: number | undefined;
  readonly twoPass?: boolean | undefined;
};

export type AudioParts = {
  readonly codec?: string | undefined;
  readonly kbps?: number | undefined;
  readonly sampleRate?: number | undefined;
  readonly channels?: number | undefined;
};

/** `null`: without this track. */
export type FormatParts = {
  readonly container: string;
  readonly video: VideoParts | null;
  readonly audio: AudioParts | null;
};

/** Called with a part of the format and the reason for its change. */
export type Lost = (part: string, message: string) => void;

/** Returns the text of a supported format that is as close to the parts as possible. */
export function formatKey({ container, video, audio }: FormatParts, lost: Lost): string {
  const name = trackContainer(container, lost);
  const traits = TRACK_CONTAINER_TRAITS[name];
  const hasVideo = video !== null && traits.video.length > 0;
  if (video !== null && !hasVideo && Object.values(video).some((value) => value !== undefined)) {
    lost("video", `${name} has no video`);
  }
  const tracks = hasVideo ? videoText(name, video, lost) : { specs: "x", options: [], codec: null };
  // A format without any track is not valid.
  const audioSpecs = audio === null && hasVideo ? "x" : audioText(name, tracks.codec, audio ?? {}, lost);
  const specs = traits.video.length > 0 ? [tracks.specs, audioSpecs] : [audioSpecs];
  return [name, ...specs, tracks.options.join(",")].join(":").replace(/(?<!:):+$/, "");
}

export function imageKey(container: string, width: number | undefined, height: number | undefined, lost: Lost): string {
  const name = CONTAINERS_BY_NAME.get(container.toLowerCase());
  const known = name !== undefined && Object.hasOwn(IMAGE_CONTAINER_TRAITS, name) ? name : null;
  if (known === null) lost("format", `\`${container}\` is not an image format of this service; jpg is used`);
  const size = sizeText(width, height, lost);
  return `${known ?? "jpg"}${size === "" ? "" : `:${size}`}`;
}

function trackContainer(name: string, lost: Lost): TrackContainer {
  const known = CONTAINERS_BY_NAME.get(name.toLowerCase());
  if (known !== undefined && Object.hasOwn(TRACK_CONTAINER_TRAITS, known)) return known as TrackContainer;
  lost("container", `\`${name}\` is not a container of this service; mp4 is used`);
  return "mp4";
}

function videoText(container: TrackContainer, video: VideoParts, lost: Lost) {
  const codec = videoCodec(container, video.codec, lost);
  const { rates, profiles, levels } = VIDEO_TRAITS[codec];
  const allowed = (rate: (typeof rates)[number]): boolean => rates.includes(rate);
  const kbps = allowed("video_bitrate") ? bitrate(video.kbps, video.maxrateKbps) : undefined;
  if (video.kbps !== undefined && kbps === undefined) lost("bitrate", `${codec} has no bitrate`);
  const isProfile = video.profile !== undefined && profiles[profileName(video.profile)]?.includes("yuv420p");
  if (video.profile !== undefined && !isProfile) lost("profile", `${codec} has no such profile here`);
  const isLevel = video.level !== undefined && levels.includes(video.level);
  if (video.level !== undefined && !isLevel) lost("level", `${codec} has no such level here`);
  const usesQuality = video.quality !== undefined && kbps === undefined;
  const fps = frameRate(video.fps, lost);
  const isDefault = codec === TRACK_CONTAINER_TRAITS[container].video[0];
  const specs = [
    sizeText(video.width, video.height, lost),
    kbps === undefined ? "" : `${kbps}k`,
    isDefault ? "" : codec,
    fps === null ? "" : `${fps}fps`,
  ];
  const options = [
    usesQuality ? `quality=${within(Math.round(video.quality ?? 3), 1, 5)}` : "",
    video.maxrateKbps !== undefined && allowed("maxrate") ? `maxrate=${bounded(video.maxrateKbps)}k` : "",
    video.twoPass && !usesQuality && allowed("2pass") ? "2pass" : "",
    isProfile && video.profile !== undefined ? `vprofile=${profileName(video.profile)}` : "",
    isLevel ? `level=${video.level}` : "",
  ];
  return { codec, specs: joined(specs, "_"), options: options.filter((text) => text !== "") };
}

const joined = (parts: readonly string[], separator: string): string =>
  parts.filter((part) => part !== "").join(separator);
const within = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
const bounded = (kbps: number): number => within(Math.round(kbps), MIN_VIDEO_KBPS, MAX_VIDEO_KBPS);
const bitrate = (kbps: number | undefined, maxrate: number | undefined): number | undefined =>
  kbps === undefined ? undefined : Math.min(bounded(kbps), maxrate === undefined ? Infinity : bounded(maxrate));

type ProfileName = keyof (typeof VIDEO_TRAITS)["h264"]["profiles"];
const profileName = (name: string): ProfileName => name.toLowerCase() as ProfileName;

const VIDEO_NAMES: Readonly<Record<string, VideoCodec>> = {
  h264: "h264",
  avc: "h264",
  x264: "h264",
  h265: "hevc",
  hevc: "hevc",
  x265: "hevc",
  vp8: "vp8",
  vp9: "vp9",
  av1: "av1",
  theora: "theora",
  mpeg4: "mpeg4",
  mpeg2: "mpeg2video",
  mpeg2video: "mpeg2video",
  vp6: "flv",
  prores: "prores",
  dnxhd: "dnxhd",
  flv: "flv",
  h263: "h263",
  wmv: "wmv2",
  wmv2: "wmv2",
  mjpeg: "mjpeg",
};
const AUDIO_NAMES: Readonly<Record<string, AudioCodec>> = {
  aac: "aac",
  ac3: "ac3",
  mp2: "mp2",
  mp3: "mp3",
  vorbis: "vorbis",
  opus: "opus",
  flac: "flac",
  wma: "wmav2",
  pcm: "pcm-s16le",
  wav: "pcm-s16le",
  amr: "amr-nb",
  wmav2: "wmav2",
};
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function videoCodec(container: TrackContainer, name: string | undefined, lost: Lost): VideoCodec {
  const { video } = TRACK_CONTAINER_TRAITS[container];
  const standard = video[0] ?? "h264";
  if (name === undefined) return standard;
  const codec = Object.hasOwn(VIDEO_NAMES, plain(name)) ? VIDEO_NAMES[plain(name)] : undefined;
  if (codec !== undefined && video.includes(codec)) return codec;
  lost("video codec", `\`${name}\` is not possible in ${container}; ${standard} is used`);
  return standard;
}

function frameRate(fps: number | undefined, lost: Lost): string | null {
  if (fps === undefined) return null;
  const known = [...FRAME_RATES.keys()].find((name) => name !== "0" && Math.abs(Number(name) - fps) < 0.02);
  if (known === undefined) lost("frame rate", `${fps} is not one of ${[...FRAME_RATES.keys()].slice(1).join(", ")}`);
  return known ?? null;
}

function sizeText(width: number | undefined, height: number | undefined, lost: Lost): string {
  const sides = [width, height].map((side) => (side === undefined || !(side >= 1) ? 0 : Math.round(side)));
  const [w = 0, h = 0] = sides;
  if (Math.max(w, h) > MAX_SIDE) {
    lost("size", `a side has at most ${MAX_SIDE} pixels`);
    return "";
  }
  return w === 0 && h === 0 ? "" : `${w}x${h}`;
}

/** The audio part of a format. */
export function audioText(
  container: TrackContainer,
  video: VideoCodec | null,
  audio: AudioParts,
  lost: Lost = () => undefined,
): string {
  const codec = audioCodec(container, video, audio.codec, lost);
  const { kbps, maxChannels, sampleRatesHz } = AUDIO_TRAITS[codec];
  const { audio: codecs, audioWithVideo = {}, sampleRatesHz: ofContainer = {} } = TRACK_CONTAINER_TRAITS[container];
  const standard = (video === null ? undefined : audioWithVideo[video]) ?? codecs[0];
  if (audio.kbps !== undefined && kbps === null) lost("audio bitrate", `${codec} is lossless`);
  const rates = ofContainer[codec] ?? sampleRatesHz;
  const isRate = audio.sampleRate !== undefined && rates.includes(audio.sampleRate);
  if (audio.sampleRate !== undefined && !isRate) lost("sample rate", `${codec} in ${container} does not have it`);
  const channels = channelsText(audio.channels, maxChannels);
  return joined(
    [
      codec === standard ? "" : codec,
      audio.kbps === undefined || kbps === null ? "" : `${nearestRate(audio.kbps, kbps)}k`,
      isRate ? `${audio.sampleRate}hz` : "",
      channels,
    ],
    "_",
  );
}

function channelsText(channels: number | undefined, most: number): string {
  if (channels === undefined || channels < 1) return "";
  const possible = Math.min(channels, most);
  return possible === 1 ? "mono" : possible === 2 ? "stereo" : "multi";
}

function nearestRate(
  kbps: number,
  { min, max, steps }: { readonly min: number; readonly max: number; readonly steps?: readonly number[] },
): number {
  const value = within(Math.round(kbps), min, max);
  return steps?.reduce((best, step) => (Math.abs(step - value) < Math.abs(best - value) ? step : best)) ?? value;
}

function audioCodec(
  container: TrackContainer,
  video: VideoCodec | null,
  name: string | undefined,
  lost: Lost,
): AudioCodec {
  const { audio, audioWithVideo = {} } = TRACK_CONTAINER_TRAITS[container];
  const standard = (video === null ? undefined : audioWithVideo[video]) ?? audio[0];
  if (name === undefined) return standard;
  const codec = Object.hasOwn(AUDIO_NAMES, plain(name)) ? AUDIO_NAMES[plain(name)] : undefined;
  if (codec !== undefined && audio.includes(codec)) return codec;
  lost("audio codec", `\`${name}\` is not possible in ${container}; ${standard} is used`);
  return standard;
}
