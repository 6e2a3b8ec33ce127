// Removes tokens that are impossible together.
import {
  AUDIO_TRAITS,
  type AudioCodec,
  VIDEO_CHOICES,
  VIDEO_TRAITS,
  type VideoCodec,
  VMAF_CODECS,
} from "../../../shared/format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  isTextContainer,
  TRACK_CONTAINER_TRAITS,
  type TrackContainer,
} from "../../../shared/format/containers.ts";
import { MAX_ANIMATED_WIDTH, PRESETS } from "../../../shared/format/presets.ts";
import { layoutOf, OFF, type Parts, TOKENS, textOf } from "./format-parts.ts";

/**
 * The text of the parts, without tokens that are impossible with their container and codecs. `kept`: the track that
 * stays.
 */
export function fitted(parts: Parts, kept: "video" | "audio", isOther = false): string {
  const { name } = parts;
  const container = CONTAINERS_BY_NAME.get(name.toLowerCase());
  if (container === undefined) return textOf(parts);
  if (isTextContainer(container)) return name;
  if (isImageContainer(container)) {
    const isWide = (token: string): boolean => Number.parseInt(token, 10) > MAX_ANIMATED_WIDTH;
    const { animated, lossless } = IMAGE_CONTAINER_TRAITS[container];
    const sizes = parts.video.filter(
      (token) =>
        TOKENS.size.test(token) && !(animated && /^\d+(?:p|x)/.test(token) && (PRESETS.has(token) || isWide(token))),
    );
    const options = parts.options.filter((token) => !lossless && /^quality=[1-5]$/i.test(token));
    return textOf({ name, video: sizes, audio: [], options });
  }
  const video = possibleVideo(parts, container);
  const audio = possibleAudio(parts, container);
  const areOff = (video.length === 1 && OFF.test(video[0] ?? "") && video[0] !== "copy") || layoutOf(name) === "audio";
  const isSilent = audio.length === 1 && /^(?:x|noaudio)$/i.test(audio[0] ?? "");
  const both = areOff && isSilent;
  return textOf({
    name,
    video: both && kept === "audio" ? [] : video,
    audio: both && kept === "video" ? [] : audio,
    options: possibleOptions(parts, container, isOther),
  });
}

const isOneOf = <Name extends string>(names: readonly Name[], text: string): text is Name =>
  names.some((name) => name === text);

/** The codec of the video; null if the video is disabled or copied. */
export function videoCodecOf({ video }: Parts, container: TrackContainer): VideoCodec | null {
  const token = video.find((one) => TOKENS.codec.test(one))?.toLowerCase();
  const known = TRACK_CONTAINER_TRAITS[container].video;
  if (token !== undefined && OFF.test(token)) return null;
  return token !== undefined && isOneOf(known, token) ? token : (known[0] ?? null);
}

function possibleVideo(parts: Parts, container: TrackContainer): string[] {
  const { video: known } = TRACK_CONTAINER_TRAITS[container];
  const codec = videoCodecOf(parts, container);
  const off = parts.video.find((token) => OFF.test(token));
  if (known.length === 0) return [];
  if (codec === null) return off === undefined ? [] : [off];
  return parts.video
    .filter((token) => {
      if (isOneOf(VIDEO_CHOICES, token.toLowerCase())) return isOneOf(known, token.toLowerCase());
      return !/^\d+k$/i.test(token) || VIDEO_TRAITS[codec].rates.includes("video_bitrate");
    })
    .toSorted((one, other) => Number(TOKENS.size.test(other)) - Number(TOKENS.size.test(one)));
}

/** The mean bitrate of the video in kbit/s; 0 if the format has none. */
export const bitrateOf = ({ video }: Parts): number =>
  Number.parseInt(video.find((token) => /^\d+k$/i.test(token)) ?? "0", 10);

/** The possible options. For another codec or container, only options that all of them have. */
function possibleOptions(parts: Parts, container: TrackContainer, isOther: boolean): string[] {
  const codec = videoCodecOf(parts, container);
  const isTooLow = (option: string): boolean =>
    TOKENS.cap.test(option) && Number.parseInt(option.slice("maxrate=".length), 10) < bitrateOf(parts);
  if (codec !== null && !isOther) return parts.options.filter((option) => !isTooLow(option));
  const { fragments } = TRACK_CONTAINER_TRAITS[container];
  const hasMaxrate = codec !== null && VIDEO_TRAITS[codec].rates.includes("maxrate");
  return parts.options.filter((option) => {
    if (isTooLow(option)) return false;
    if (/^metadata/.test(option)) return true;
    if (/^frag/.test(option)) return fragments;
    if (/^quality=vmaf/i.test(option)) return codec !== null && VMAF_CODECS.includes(codec);
    return codec !== null && (/^quality/.test(option) || (hasMaxrate && /^maxrate/.test(option)));
  });
}

/** The codec of the audio; null if the audio is disabled or copied. */
export function audioCodecOf(parts: Parts, container: TrackContainer): AudioCodec | null {
  const token = parts.audio.find((one) => TOKENS.audio.test(one))?.toLowerCase();
  const { audio: known, audioWithVideo = {} } = TRACK_CONTAINER_TRAITS[container];
  if (token !== undefined && OFF.test(token)) return null;
  if (token === "pcm") return "pcm-s16le";
  if (token !== undefined && isOneOf(known, token)) return token;
  const video = videoCodecOf(parts, container);
  return (video === null ? undefined : audioWithVideo[video]) ?? known[0];
}

function possibleAudio(parts: Parts, container: TrackContainer): string[] {
  const codec = audioCodecOf(parts, container);
  const off = parts.audio.find((token) => OFF.test(token));
  if (codec === null) return off === undefined ? [] : [off];
  const { audio: known, sampleRatesHz = {} } = TRACK_CONTAINER_TRAITS[container];
  const rates = sampleRatesHz[codec] ?? AUDIO_TRAITS[codec].sampleRatesHz;
  return parts.audio.filter((token) => {
    const text = token.toLowerCase();
    if (TOKENS.audio.test(text)) return text === "pcm" || isOneOf(known, text);
    if (TOKENS.audioRate.test(text)) return isBitrate(codec, Number.parseInt(text, 10));
    if (/hz$/.test(text)) return rates.includes(Number.parseInt(text, 10));
    return isChannels(codec, text);
  });
}

/** True if the codec supports this bitrate, in kbit/s. */
export function isBitrate(codec: AudioCodec, kbps: number): boolean {
  const limits = AUDIO_TRAITS[codec].kbps;
  if (limits === null) return false;
  const { min, max, steps } = limits;
  return steps === undefined ? kbps >= min && kbps <= max : steps.includes(kbps);
}

const NEEDED: Readonly<Record<string, number>> = { mono: 1, stereo: 2, multi: 3 };
export const isChannels = (codec: AudioCodec, name: string): boolean =>
  (NEEDED[name] ?? 1) <= AUDIO_TRAITS[codec].maxChannels;
