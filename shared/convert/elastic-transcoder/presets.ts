// Elastic Transcoder's system presets: `aws elastictranscoder list-presets`, as published until the end of the service.
import type { AudioParts, VideoParts } from "../format-key.ts";

export type Preset = {
  readonly container: string;
  readonly video: VideoParts | null;
  readonly audio: AudioParts | null;
  readonly fit?: "crop" | "pad";
  readonly thumbnails?: Thumbnails;
};

export type Thumbnails = {
  readonly format: string;
  readonly interval: number;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
};

/** What all system presets have. */
const THUMBNAILS: Thumbnails = { format: "png", interval: 60, width: 192 };

const video = (
  width: number,
  height: number,
  kbps: number,
  fps: number | undefined,
  profile: string,
  level: number,
): VideoParts => ({ codec: "H.264", width, height, kbps, fps, profile, level });
const aac = (kbps: number): AudioParts => ({ codec: "AAC", kbps, channels: 2 });
const mp4 = (tracks: VideoParts, kbps: number): Preset => ({
  container: "mp4",
  video: tracks,
  audio: aac(kbps),
  thumbnails: THUMBNAILS,
});
const only = (container: string, audio: AudioParts): Preset => ({ container, video: null, audio });
const stream = (container: string, tracks: VideoParts, kbps: number | null): Preset => ({
  container,
  video: tracks,
  audio: kbps === null ? null : aac(kbps),
  thumbnails: THUMBNAILS,
});

const HLS = {
  "2M": video(1024, 768, 1872, undefined, "main", 31),
  "1.5M": video(960, 640, 1372, undefined, "main", 31),
  "1M": video(640, 432, 872, undefined, "main", 30),
  "600k": video(480, 320, 472, undefined, "baseline", 30),
  "400k": video(400, 288, 272, undefined, "baseline", 30),
} as const;

const webm = (codec: string, width: number, height: number, kbps: number, fps: number): Preset => ({
  container: "webm",
  video: { codec, width, height, kbps, fps },
  audio: { codec: "vorbis", kbps: 160, channels: 2 },
  thumbnails: THUMBNAILS,
});

/** By the part of the id after `1351620000001-`. */
const BY_NUMBER: Readonly<Record<string, Preset>> = {
  "000001": mp4(video(1920, 1080, 5400, 29.97, "baseline", 40), 160),
  "000010": mp4(video(1280, 720, 2400, 29.97, "baseline", 31), 160),
  "000020": mp4(video(854, 480, 1200, 29.97, "baseline", 31), 128),
  "000030": mp4(video(640, 480, 900, 29.97, "baseline", 30), 128),
  "000040": mp4(video(640, 360, 720, 29.97, "baseline", 30), 128),
  "000050": mp4(video(480, 360, 600, 29.97, "baseline", 30), 128),
  "000061": mp4(video(320, 240, 300, 15, "baseline", 13), 64),
  "100020": mp4(video(1920, 1080, 5000, 30, "high", 41), 160),
  "100040": mp4(video(640, 480, 1500, 30, "baseline", 30), 128),
  "100050": mp4(video(1280, 720, 5000, 30, "main", 31), 160),
  "100060": mp4(video(1920, 1080, 5000, 30, "high", 40), 160),
  "100070": mp4(video(1280, 720, 2200, 30, "main", 31), 160),
  "100080": mp4(video(1280, 720, 2200, 30, "main", 40), 160),
  "100090": mp4(video(1920, 1080, 5400, 30, "main", 40), 160),
  "100150": mp4(video(1920, 1080, 5000, 30, "main", 41), 160),
  "100180": { ...mp4(video(1920, 1080, 10_000, 29.97, "main", 41), 160), fit: "pad" },
  "100190": { ...mp4(video(1920, 1080, 10_000, 25, "main", 41), 160), fit: "pad" },
  "100210": stream("flv", video(1280, 720, 2200, 30, "main", 31), 160),
  "100240": webm("vp8", 1280, 720, 2400, 29.97),
  "100250": webm("vp9", 1280, 720, 1200, 30),
  "100260": webm("vp9", 640, 360, 600, 30),
  "100110": only("mp4", aac(256)),
  "100120": only("mp4", aac(160)),
  "100130": only("mp4", aac(128)),
  "100141": only("mp4", { codec: "AAC", kbps: 64, channels: 1 }),
  "300010": only("mp3", { codec: "mp3", kbps: 320, channels: 2 }),
  "300020": only("mp3", { codec: "mp3", kbps: 192, channels: 2 }),
  "300030": only("mp3", { codec: "mp3", kbps: 160, channels: 2 }),
  "300040": only("mp3", { codec: "mp3", kbps: 128, channels: 2 }),
  "300110": only("flac", { codec: "flac", sampleRate: 44_100, channels: 2 }),
  "300300": only("wav", { codec: "pcm", sampleRate: 44_100, channels: 2 }),
  "200010": stream("ts", HLS["2M"], 128),
  "200015": stream("ts", HLS["2M"], null),
  "200020": stream("ts", HLS["1.5M"], 128),
  "200025": stream("ts", HLS["1.5M"], null),
  "200030": stream("ts", HLS["1M"], 128),
  "200035": stream("ts", HLS["1M"], null),
  "200040": stream("ts", HLS["600k"], 128),
  "200045": stream("ts", HLS["600k"], null),
  "200050": stream("ts", HLS["400k"], 128),
  "200055": stream("ts", HLS["400k"], null),
  "200060": only("ts", aac(160)),
  "200071": only("ts", aac(64)),
  "500020": stream("fmp4", video(1280, 720, 4800, 30, "main", 31), null),
  "500030": stream("fmp4", video(854, 480, 2400, 30, "main", 31), null),
  "500040": stream("fmp4", video(640, 360, 1200, 30, "main", 30), null),
  "500050": stream("fmp4", video(426, 240, 600, 30, "main", 30), null),
  "500060": only("fmp4", aac(128)),
};

/** The ids of the system presets that are converted. */
export const SYSTEM_PRESETS: readonly string[] = Object.keys(BY_NUMBER).map((number) => `1351620000001-${number}`);

/** A system preset; undefined for others, such as those for Smooth Streaming, MXF and animated GIF. */
export function systemPreset(id: string): Preset | undefined {
  const number = id.startsWith("1351620000001-") ? id.slice(14) : "";
  return Object.hasOwn(BY_NUMBER, number) ? BY_NUMBER[number] : undefined;
}
