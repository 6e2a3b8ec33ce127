// Prints the canonical text of a format. `parseFormat` parses it to the same format.

import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { AudioTrackSpec, FormatSpec, FrameSize, VideoFormat, VideoTrackSpec } from "./format-spec.ts";
import { FRAME_RATES } from "./presets.ts";
import { defaultAudioCodec, defaultAudioKbps } from "./resolve-audio.ts";

/**
 * Prints only differences from the container's defaults, with sizes and bitrates as numbers: `avi:240p` becomes
 * `avi:0x240_500k`.
 */
export function printFormat(format: FormatSpec): string {
  return [format.container, ...segments(format)].join(":").replace(/(?<!:):+$/, "");
}

function segments(format: FormatSpec): string[] {
  if (format.type === "image") {
    return [sizeText(format.size), "", format.quality === undefined ? "" : `quality=${format.quality}`];
  }
  if (format.type === "text") return [];
  const { container, video, audio } = format;
  const tracks = [audioText(container, video, audio), options(format)];
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? [videoText(container, video), ...tracks] : tracks;
}

function videoText(container: TrackContainer, video: VideoTrackSpec | null): string {
  if (!video) return "x";
  return joined("_", [
    sizeText(video.size),
    "bitrateKbps" in video.rate && video.rate.bitrateKbps !== null && `${video.rate.bitrateKbps}k`,
    video.codec !== TRACK_CONTAINER_TRAITS[container].video[0] && video.codec,
    video.fps !== null && `${[...FRAME_RATES].find(([, fraction]) => fraction === video.fps)?.[0]}fps`,
  ]);
}

function audioText(container: TrackContainer, video: VideoTrackSpec | null, audio: AudioTrackSpec | null): string {
  if (!audio) return "x";
  const isDefault = audio.codec === defaultAudioCodec(container, video?.codec ?? null);
  return joined("_", [!isDefault && audio.codec, ...audioSpecs(container, audio)]);
}

const audioSpecs = (
  container: TrackContainer,
  { codec, bitrateKbps, sampleRateHz, channels }: AudioTrackSpec,
): readonly Part[] => [
  codec !== "copy" && bitrateKbps !== defaultAudioKbps(container, codec) && `${bitrateKbps}k`,
  sampleRateHz !== null && `${sampleRateHz}hz`,
  channels !== null && channels,
];

function options({ video, keepsMetadata, fragmented }: VideoFormat): string {
  const { rate, pixelFormat, twoPass, profile, level } = video ?? {};
  return joined(",", [
    rate && "quality" in rate && `quality=${rate.quality}`,
    rate && "vmaf" in rate && `quality=vmaf${rate.vmaf}`,
    rate && rate.maxrateKbps !== null && `maxrate=${rate.maxrateKbps}k`,
    pixelFormat && `pix_fmt=${pixelFormat}`,
    twoPass && "2pass",
    profile && `vprofile=${profile}`,
    level && `level=${level}`,
    !keepsMetadata && "metadata=0",
    fragmented && "frag",
  ]);
}

function sizeText({ width, height }: FrameSize): string {
  return width === null && height === null ? "" : `${width ?? 0}x${height ?? 0}`;
}

type Part = string | false | null | undefined | 0;
const joined = (separator: string, parts: readonly Part[]): string => parts.filter((part) => part).join(separator);
