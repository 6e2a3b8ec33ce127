// The parts of a format: container, tokens of the video and the audio, options.
import { AUDIO_CHOICES, CHANNELS, VIDEO_CHOICES } from "../../../shared/format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  isImageContainer,
  isTextContainer,
  TRACK_CONTAINER_TRAITS,
} from "../../../shared/format/containers.ts";
import { PRESETS } from "../../../shared/format/presets.ts";

export type Slot = "size" | "codec" | "rate" | "cap" | "fps" | "audio" | "audioRate" | "channels";

/** Patterns for the tokens of each slot. */
export const TOKENS: Readonly<Record<Slot, RegExp>> = {
  size: new RegExp(`^(?:${[...PRESETS.keys()].join("|")}|\\d*x\\d+|\\d+x)$`, "i"),
  codec: new RegExp(`^(?:${[...VIDEO_CHOICES, "x", "novideo"].join("|")}|prores_ks)$`, "i"),
  rate: /^(?:\d+k|quality=(?:[1-5]|vmaf\d\d))$/i,
  cap: /^maxrate=\d+k$/i,
  fps: /^[\d.]+fps$/i,
  audio: new RegExp(`^(?:${[...AUDIO_CHOICES, "pcm", "x", "noaudio"].join("|")}|pcm_\\w+|amr_nb)$`, "i"),
  audioRate: /^\d+k$/i,
  channels: new RegExp(`^(?:${CHANNELS.join("|")})$`, "i"),
};
const UNDERSCORED = /(prores|amr|pcm)_(ks|nb|s16le|u8|alaw)/gi;

/** The text with hyphens in the names that contain `_`, because `_` separates tokens. */
export const hyphenated = (text: string): string => text.replaceAll(UNDERSCORED, "$1-$2");

export type Parts = {
  readonly name: string;
  readonly video: string[];
  readonly audio: string[];
  readonly options: string[];
};
export type Layout = "video" | "audio" | "image";

export function layoutOf(name: string): Layout {
  const container = CONTAINERS_BY_NAME.get(name.toLowerCase()) ?? "mp4";
  if (isImageContainer(container) || isTextContainer(container)) return "image";
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? "video" : "audio";
}

const tokens = (segment = "", separator: RegExp = /_/): string[] =>
  hyphenated(segment)
    .split(separator)
    .filter((token) => token !== "");

export function partsOf(format: string): Parts {
  const [name = "", ...segments] = format.split(":");
  const layout = layoutOf(name);
  const [video, audio, options] = layout === "audio" ? [undefined, ...segments] : segments;
  return { name, video: tokens(video), audio: tokens(audio), options: tokens(options, /,|_(?!fmt)/) };
}

export function textOf({ name, video, audio, options }: Parts): string {
  const layout = layoutOf(name);
  const segments = [...(layout === "audio" ? [] : [video.join("_")]), audio.join("_"), options.join(",")];
  return [name, ...segments].join(":").replace(/(?<!:):+$/, "");
}

/** Matches tokens of a track that is not encoded. */
export const OFF = /^(?:x|copy|novideo|noaudio)$/i;
