// The parts of a format that people choose from lists. A change replaces a token of the text and keeps the others.
import { CHANNELS, VIDEO_TRAITS, VMAF_CODECS } from "../../../shared/format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  isTextContainer,
  TRACK_CONTAINER_TRAITS,
} from "../../../shared/format/containers.ts";
import { FRAME_RATES, PRESETS } from "../../../shared/format/presets.ts";
import { hyphenated, layoutOf, OFF, partsOf, type Slot, TOKENS } from "./format-parts.ts";
import { audioCodecOf, bitrateOf, fitted, isBitrate, isChannels, videoCodecOf } from "./possible-parts.ts";

export type { Slot } from "./format-parts.ts";

const isAudioSlot = (slot: Slot): boolean => slot === "audio" || slot === "audioRate" || slot === "channels";

/** The text of a slot; empty if the format leaves it to its default. */
export function slotOf(format: string, slot: Slot): string {
  const { video, audio, options } = partsOf(format);
  const own = isAudioSlot(slot) ? audio : video;
  return [...own, ...options].find((token) => TOKENS[slot].test(token)) ?? "";
}

/** The format with another text in a slot; empty for the default. Tokens that are impossible with it are removed. */
export function withSlot(format: string, slot: Slot, given: string): string {
  const parts = partsOf(format);
  const text = hyphenated(given);
  const isOption = text.includes("=");
  const replaced = (list: readonly string[], added: string): string[] => [
    ...list.filter((token) => !TOKENS[slot].test(token)),
    ...(added === "" ? [] : [added]),
  ];
  if (isAudioSlot(slot)) return fitted({ ...parts, audio: replaced(withoutOff(parts.audio, slot), text) }, "audio");
  const video = replaced(withoutOff(parts.video, slot), isOption ? "" : text);
  const options = replaced(parts.options, isOption ? text : "");
  return fitted({ ...parts, video, options }, "video", slot === "codec" && text !== slotOf(format, slot));
}

/** Removes the tokens for a disabled or copied track if the track gets another property. */
const withoutOff = (list: readonly string[], slot: Slot): readonly string[] =>
  slot === "codec" || slot === "audio" ? list : list.filter((token) => !OFF.test(token));

/** The container as the format spells it. */
export const containerOf = (format: string): string => format.split(":")[0] ?? "";

/** The format with another container, without tokens that the container does not allow. */
export function withContainer(format: string, name: string): string {
  const parts = partsOf(format);
  const wasImage = layoutOf(parts.name) === "image";
  return fitted({ ...parts, name, audio: wasImage ? [] : parts.audio }, "video", true);
}

export type Choices = Readonly<Partial<Record<Slot, readonly string[]>>>;

/** The choices for a format, without the default. */
export function choicesOf(format: string): Choices {
  const container = CONTAINERS_BY_NAME.get(containerOf(format).toLowerCase());
  if (container === undefined || isTextContainer(container)) return {};
  if (isImageContainer(container)) {
    const { animated, lossless } = IMAGE_CONTAINER_TRAITS[container];
    return {
      size: animated ? ["160x", "320x", "480x"] : ["160x", "320x", "640x", "1280x"],
      ...(lossless ? {} : { rate: QUALITIES }),
    };
  }
  const parts = partsOf(format);
  const { video, audio } = TRACK_CONTAINER_TRAITS[container];
  const audioCodec = audioCodecOf(parts, container);
  const ofAudio: Choices = {
    audio: video.length > 0 ? [...audio, "copy", "x"] : audio,
    ...(audioCodec === null
      ? {}
      : {
          audioRate: AUDIO_KBPS.filter((kbps) => isBitrate(audioCodec, kbps)).map((kbps) => `${kbps}k`),
          channels: CHANNELS.filter((name) => isChannels(audioCodec, name)),
        }),
  };
  if (video.length === 0) return ofAudio;
  const codec = videoCodecOf(parts, container);
  if (codec === null) return { codec: [...video, "copy", "x"], ...ofAudio };
  const { rates } = VIDEO_TRAITS[codec];
  return {
    size: [...PRESETS.keys()],
    codec: [...video, "copy", "x"],
    rate: [
      ...QUALITIES,
      ...(VMAF_CODECS.includes(codec) ? VMAFS.map((vmaf) => `quality=vmaf${vmaf}`) : []),
      ...(rates.includes("video_bitrate") ? ["1000k", "2000k", "4000k", "8000k"] : []),
    ],
    ...(rates.includes("maxrate") ? { cap: capsFrom(bitrateOf(parts)) } : {}),
    fps: [...FRAME_RATES.keys()].slice(1).map((rate) => `${rate}fps`),
    ...ofAudio,
  };
}

const QUALITIES = [1, 2, 3, 4, 5].map((step) => `quality=${step}`);
/** From good on small screens to visually equal to the source. */
const VMAFS = [80, 85, 90, 93, 95, 97];
const CAPS = [400, 700, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12_000];
const capsFrom = (least: number): string[] => CAPS.filter((kbps) => kbps >= least).map((kbps) => `maxrate=${kbps}k`);
const AUDIO_KBPS = [12, 32, 64, 96, 128, 160, 192, 256, 320];

/** All containers, video containers first. */
export const CONTAINER_NAMES: readonly string[] = [...new Set(CONTAINERS_BY_NAME.values())];
