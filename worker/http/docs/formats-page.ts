// The values of formats, from the tables of the parser.
import {
  AUDIO_TRAITS,
  CHANNELS,
  PIXEL_FORMATS,
  PROFILES,
  SAMPLE_RATES_HZ,
  VIDEO_TRAITS,
} from "#shared/format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  type Container,
  IMAGE_CONTAINER_TRAITS,
  TRACK_CONTAINER_TRAITS,
} from "#shared/format/containers.ts";
import { OPTIONS } from "#shared/format/grammar/requested-specs.ts";
import { DEFAULT_LADDER, FRAME_RATES, MAX_ANIMATED_WIDTH, PRESETS } from "#shared/format/presets.ts";
import { table } from "./schemas-page.ts";

const codes = (values: readonly (string | number)[]): string => values.map((value) => `\`${value}\``).join(", ");

/** A container with its aliases. */
const names = (container: string): string =>
  codes([...CONTAINERS_BY_NAME].filter(([, target]) => target === (container as Container)).map(([name]) => name));

export const formatsPage = (): string => `# API: formats

The containers, codecs and options of formats. [API version 2](../api-v2.md#4-format-grammar) has the grammar,
[encoding](../encoding.md) the encoders.

## Containers

The first codec is the default. Names in the same cell are aliases.

${table(
  ["Container", "Video", "Audio", "Default audio with"],
  Object.entries(TRACK_CONTAINER_TRAITS).map(([name, { video, audio, audioWithVideo = {} }]) => [
    names(name),
    codes(video),
    codes(audio),
    codes(Object.entries(audioWithVideo).map(([codec, other]) => `${codec}: ${other}`)),
  ]),
)}

${table(
  ["Container", "Images", "Media type"],
  Object.entries(IMAGE_CONTAINER_TRAITS).map(([name, { animated, mediaType }]) => [
    names(name),
    animated ? `animated, at most ${MAX_ANIMATED_WIDTH} pixels wide` : "still",
    `\`${mediaType}\``,
  ]),
)}

## Presets

${table(
  ["Preset", "Size", "Bitrate"],
  [...PRESETS].map(([name, { size, bitrateKbps }]) => [
    `\`${name}\``,
    size.width === null ? `height ${size.height}, width from the source` : `${size.width} × ${size.height}`,
    `${bitrateKbps} kbit/s`,
  ]),
)}

Frame rates: ${codes([...FRAME_RATES.keys()].map((rate) => `${rate}fps`))}. Sample rates:
${codes(SAMPLE_RATES_HZ.map((hz) => `${hz}hz`))}. Channels: ${codes(CHANNELS)}. Options: ${codes(OPTIONS)}. Pixel formats:
${codes(PIXEL_FORMATS)}. Profiles: ${codes(PROFILES)}. Default variants of a stream: ${codes(DEFAULT_LADDER)}.

## Codecs

${table(
  ["Video", "Pixel formats", "Bitrate control", "Profiles", "Levels"],
  Object.entries(VIDEO_TRAITS).map(([name, { pixelFormats, rates, profiles, levels }]) => [
    `\`${name}\``,
    codes(pixelFormats),
    codes(["quality", ...rates]),
    codes(Object.keys(profiles)),
    levels.join(", "),
  ]),
)}

${table(
  ["Audio", "Bitrate in kbit/s", "Default", "Sample rates in Hz", "Maximum channels"],
  Object.entries(AUDIO_TRAITS).map(([name, { kbps, sampleRatesHz, maxChannels }]) => [
    `\`${name}\``,
    kbps === null ? "lossless" : (kbps.steps?.join(", ") ?? `${kbps.min} to ${kbps.max}`),
    kbps === null ? "" : String(kbps.default),
    sampleRatesHz.length === SAMPLE_RATES_HZ.length ? "all" : sampleRatesHz.join(", "),
    String(maxChannels),
  ]),
)}
`;
