// The parts of a format that people choose from lists: each is a token of its text, and the others stay.
import { AUDIO_CHOICES, CHANNELS, VIDEO_CHOICES } from "../../../shared/format/codecs.ts";
import { CONTAINERS_BY_NAME, isImageContainer, TRACK_CONTAINER_TRAITS } from "../../../shared/format/containers.ts";
import { FRAME_RATES, PRESETS } from "../../../shared/format/presets.ts";

export type Slot = "size" | "codec" | "rate" | "fps" | "audio" | "audioRate" | "channels";

/** Which text is a token of a slot. */
const TOKENS: Readonly<Record<Slot, RegExp>> = {
  size: new RegExp(`^(?:${[...PRESETS.keys()].join("|")}|\\d*x\\d+|\\d+x)$`, "i"),
  codec: new RegExp(`^(?:${[...VIDEO_CHOICES, "x", "novideo"].join("|")}|prores_ks)$`, "i"),
  rate: /^(?:\d+k|quality=[1-5])$/i,
  fps: /^[\d.]+fps$/i,
  audio: new RegExp(`^(?:${[...AUDIO_CHOICES, "pcm", "x", "noaudio"].join("|")}|pcm_\\w+|amr_nb)$`, "i"),
  audioRate: /^\d+k$/i,
  channels: new RegExp(`^(?:${CHANNELS.join("|")})$`, "i"),
};
const UNDERSCORED = /(prores|amr|pcm)_(ks|nb|s16le|u8|alaw)/gi;

type Parts = { readonly name: string; readonly video: string[]; readonly audio: string[]; readonly options: string[] };
type Layout = "video" | "audio" | "image";

function layoutOf(name: string): Layout {
  const container = CONTAINERS_BY_NAME.get(name.toLowerCase()) ?? "mp4";
  if (isImageContainer(container)) return "image";
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? "video" : "audio";
}

const tokens = (segment = "", separator: RegExp = /_/): string[] =>
  segment
    .replaceAll(UNDERSCORED, "$1-$2")
    .split(separator)
    .filter((token) => token !== "");

function partsOf(format: string): Parts {
  const [name = "", ...segments] = format.split(":");
  const layout = layoutOf(name);
  const [video, audio, options] = layout === "audio" ? [undefined, ...segments] : segments;
  return { name, video: tokens(video), audio: tokens(audio), options: tokens(options, /,|_(?!fmt)/) };
}

function textOf({ name, video, audio, options }: Parts): string {
  const layout = layoutOf(name);
  const segments = [...(layout === "audio" ? [] : [video.join("_")]), audio.join("_"), options.join(",")];
  return [name, ...(layout === "image" ? [video.join("_")] : segments)].join(":").replace(/:+$/, "");
}

const isAudioSlot = (slot: Slot): boolean => slot === "audio" || slot === "audioRate" || slot === "channels";

/** The text of a slot; empty if the format leaves it to its default. */
export function slotOf(format: string, slot: Slot): string {
  const { video, audio, options } = partsOf(format);
  const own = isAudioSlot(slot) ? audio : video;
  const found = own.find((token) => TOKENS[slot].test(token));
  return found ?? (slot === "rate" ? options.find((token) => TOKENS.rate.test(token)) : undefined) ?? "";
}

/** The format with another text in a slot; empty for the default. */
export function withSlot(format: string, slot: Slot, text: string): string {
  const parts = partsOf(format);
  const replaced = (list: readonly string[], added: string): string[] => [
    ...list.filter((token) => !TOKENS[slot].test(token)),
    ...(added === "" ? [] : [added]),
  ];
  if (isAudioSlot(slot)) return textOf({ ...parts, audio: inAudio(slot, text, replaced(parts.audio, text)) });
  const isQuality = text.startsWith("quality=");
  const options = slot === "rate" ? replaced(parts.options, isQuality ? text : "") : parts.options;
  const video = replaced(parts.video, isQuality ? "" : text);
  const isOff = slot === "codec" && (text === "x" || text === "copy");
  return textOf({ ...parts, options: isOff ? [] : options, video: isOff ? [text] : orderedVideo(video) });
}

/** A track that is off or copied has no other tokens. */
const inAudio = (slot: Slot, text: string, list: string[]): string[] =>
  slot === "audio" && (text === "x" || text === "copy") ? [text] : list.filter((one) => one !== "x" && one !== "copy");

/** The size first, as people read formats; a track that gets a size is not off. */
function orderedVideo(list: readonly string[]): string[] {
  const others = list.length > 1 ? list.filter((token) => !/^(?:x|copy|novideo)$/i.test(token)) : [...list];
  return others.toSorted((one, other) => Number(TOKENS.size.test(other)) - Number(TOKENS.size.test(one)));
}

/** The container, as it is written. */
export const containerOf = (format: string): string => format.split(":")[0] ?? "";

/** Another container; tokens that cannot be in it are left out. */
export function withContainer(format: string, name: string): string {
  const parts = partsOf(format);
  const layout = layoutOf(name);
  if (layout === "image")
    return textOf({ name, video: parts.video.filter((token) => TOKENS.size.test(token)), audio: [], options: [] });
  const container = CONTAINERS_BY_NAME.get(name);
  if (container === undefined || isImageContainer(container)) return name;
  const { video, audio } = TRACK_CONTAINER_TRAITS[container];
  const isKnown = (list: readonly string[], all: readonly string[], token: string): boolean =>
    !all.includes(token) || list.includes(token) || token === "copy";
  const wasImage = layoutOf(parts.name) === "image";
  return textOf({
    name,
    video: layout === "audio" ? [] : parts.video.filter((token) => isKnown(video, VIDEO_CHOICES, token)),
    audio: wasImage ? [] : parts.audio.filter((token) => isKnown(audio, AUDIO_CHOICES, token)),
    options: layout === "audio" ? [] : parts.options,
  });
}

export type Choices = Readonly<Partial<Record<Slot, readonly string[]>>>;

/** What can be chosen in a container, without the default. */
export function choicesOf(format: string): Choices {
  const container = CONTAINERS_BY_NAME.get(containerOf(format).toLowerCase());
  if (container === undefined) return {};
  if (isImageContainer(container)) return { size: ["160x", "320x", "640x", "1280x"] };
  const { video, audio } = TRACK_CONTAINER_TRAITS[container];
  const ofAudio: Choices = {
    audio: video.length > 0 ? [...audio, "copy", "x"] : audio,
    audioRate: ["64k", "96k", "128k", "160k", "192k", "256k", "320k"],
    channels: CHANNELS,
  };
  if (video.length === 0) return ofAudio;
  return {
    size: [...PRESETS.keys()],
    codec: [...video, "copy", "x"],
    rate: [...[1, 2, 3, 4, 5].map((step) => `quality=${step}`), "1000k", "2000k", "4000k", "8000k"],
    fps: [...FRAME_RATES.keys()].slice(1).map((rate) => `${rate}fps`),
    ...ofAudio,
  };
}

/** All containers, those of video first. */
export const CONTAINER_NAMES: readonly string[] = [...new Set(CONTAINERS_BY_NAME.values())];
