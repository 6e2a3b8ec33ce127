// ffprobe's findings about an output, in a few words.
import type { HttpStreamMetadata, LoudnessMetadata, MediaMetadata } from "../../../client/index.ts";
import { bitrate, duration } from "../../core/format.ts";
import { frameRateOf } from "../../core/frame-rate.ts";

type Stream = MediaMetadata["streams"][number];

/** The usual names of common codecs. */
const NAMES: Readonly<Record<string, string>> = {
  h264: "H.264",
  hevc: "HEVC",
  av1: "AV1",
  vp8: "VP8",
  vp9: "VP9",
  prores: "ProRes",
  mpeg4: "MPEG-4",
  mpeg2video: "MPEG-2",
  aac: "AAC",
  mp3: "MP3",
  opus: "Opus",
  vorbis: "Vorbis",
  flac: "FLAC",
  ac3: "AC-3",
  eac3: "E-AC-3",
  mjpeg: "JPEG",
  png: "PNG",
  webp: "WebP",
  gif: "GIF",
};
const nameOf = ({ codec_name = "" }: Stream): string => NAMES[codec_name] ?? codec_name;

const numberOf = (text: string | undefined): number | null => {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) ? null : value;
};

/** The video that players show, which is never a cover image. */
export const mainVideo = ({ streams }: MediaMetadata): Stream | undefined =>
  streams.find(({ codec_type, disposition }) => codec_type === "video" && !disposition?.attached_pic);

const shortRate = (rate: number | null): string => (rate === null ? "" : ` · ${Number(rate.toFixed(2))} fps`);

/** `H.264 1280×720 · 25 fps`. */
export function videoText(stream: Stream): string {
  const size = stream.width && stream.height ? ` ${stream.width}×${stream.height}` : "";
  return `${nameOf(stream)}${size}${shortRate(frameRateOf(stream))}`;
}

/** `AAC stereo · 48 kHz`. */
export function audioText(stream: Stream): string {
  const { channels = 0, channel_layout, sample_rate } = stream;
  const layout = { 1: "mono", 2: "stereo" }[channels] ?? channel_layout ?? (channels > 0 ? `${channels} channels` : "");
  const rate = numberOf(sample_rate);
  return [
    `${nameOf(stream)} ${layout}`.trim(),
    ...(rate === null ? [] : [`${Number((rate / 1000).toFixed(3))} kHz`]),
  ].join(" · ");
}

export type Figure = readonly [name: string, value: string];

/** The figures that are known. */
const known = (figures: readonly (readonly [name: string, value: string | null])[]): Figure[] =>
  figures.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));

/** A number of ffprobe, if it is known. */
function textOf(text: string | undefined, format: (value: number) => string): string | null {
  const value = numberOf(text);
  return value === null ? null : format(value);
}

/** The bytes of a file, or of a stream's packages together; 0 if unknown. */
export function sizeOf(metadata: MediaMetadata | HttpStreamMetadata | undefined): number {
  const { hls, dash }: Partial<HttpStreamMetadata> = metadata ?? {};
  const files = hls || dash ? [hls, dash] : [metadata];
  return files.reduce((sum, file) => sum + (numberOf(file?.format.size) ?? 0), 0);
}

/** Tracks, length and bitrate of a file. */
export function fileFigures(metadata: MediaMetadata): Figure[] {
  const video = mainVideo(metadata);
  const audio = metadata.streams.filter(({ codec_type }) => codec_type === "audio");
  const { format } = metadata;
  return known([
    ["Video", video ? videoText(video) : null],
    ["Audio", audio.map(audioText).join(", ") || null],
    ["Length", textOf(format.duration, duration)],
    ["Bitrate", textOf(format.bit_rate, bitrate)],
  ]);
}

/** The loudness of each mix: `−16.0 LUFS, gain +7.4 dB`. */
export const loudnessFigures = (mixes: readonly LoudnessMetadata[] = []): Figure[] =>
  mixes.map(({ track, layout, output, gain_db }) => {
    const mix = track === undefined ? layout : `track ${track}, ${layout}`;
    const name = mixes.length > 1 ? `Loudness, ${mix}` : "Loudness";
    const gain = gain_db === 0 ? "" : `, gain ${gain_db > 0 ? "+" : "−"}${Math.abs(gain_db).toFixed(1)} dB`;
    return [name, `${output.integrated.toFixed(1).replace("-", "−")} LUFS${gain}`];
  });

/** The variants of a stream. */
export function streamFigures({ hls, dash }: HttpStreamMetadata): Figure[] {
  const manifest = hls ?? dash;
  if (!manifest) return [];
  const rungs = manifest.streams.flatMap((stream) => {
    if (stream.codec_type !== "video") return [];
    const rate = numberOf(stream.tags?.variant_bitrate);
    return [`${stream.height ?? "?"}p${rate === null ? "" : ` ${bitrate(rate)}`}`];
  });
  const audio = manifest.streams.find(({ codec_type }) => codec_type === "audio");
  const [first] = manifest.streams.filter(({ codec_type }) => codec_type === "video");
  return known([
    ["Variants", [...new Set(rungs)].join(" · ") || null],
    ["Video", first ? `${nameOf(first)}${shortRate(frameRateOf(first))}` : null],
    ["Audio", audio ? audioText(audio) : null],
    ["Length", textOf(manifest.format.duration, duration)],
  ]);
}
