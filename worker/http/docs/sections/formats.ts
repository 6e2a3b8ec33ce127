// The format grammar, from the tables of the parser.

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
import { parseFormat } from "#shared/format/parse-format.ts";
import {
  DEFAULT_LADDER,
  FRAME_RATES,
  MAX_ANIMATED_WIDTH,
  MAX_SIDE,
  MAX_VIDEO_KBPS,
  PRESETS,
} from "#shared/format/presets.ts";
import { printFormat } from "#shared/format/print-format.ts";
import { block, code, codes, type Html, html, prose, section, table } from "../markup.ts";

const GRAMMAR = `video   container[:video[:audio[:options]]]
audio   container[:audio[:options]]
image   container[:size]
stream  httpstream`;

export const formats = (): Html =>
  section(
    2,
    "formats",
    "Formats",
    html`<p>Each property name in <code>outputs</code> is a format. Separate the specs of a segment by <code>_</code>, in any order,
and options by <code>,</code> or <code>_</code>. An empty segment means defaults; trailing segments are optional.
<code>x</code> disables a track, <code>copy</code> copies it without encoding. Formats are case-insensitive. An unknown spec is
an error with the code <code>output_format_not_valid</code>.</p>`,
    block(GRAMMAR, "Format grammar"),
    section(3, "format-examples", "Examples", exampleTable()),
    section(3, "presets", "Sizes, frame rates, bitrates", sizes()),
    section(3, "containers", "Containers", containers()),
    section(3, "video-codecs", "Video codecs", videoCodecs()),
    section(3, "audio-codecs", "Audio codecs", audioCodecs()),
    section(3, "format-options", "Options", options()),
  );

const EXAMPLES: readonly (readonly [format: string, meaning: string])[] = [
  ["mp4", "H.264 and AAC, in the size of the source"],
  ["mp4:720p", "fitted into 1280 × 720"],
  ["mp4:640x_25fps_900k:mono_64k", "640 pixels wide, 25 frames per second, with bitrates"],
  ["mp4:1080p::quality=4,maxrate=6000k", "constant quality, up to a maximum bitrate"],
  ["mp4:1080p::quality=vmaf93", "the fewest bits with which the video has a VMAF of 93"],
  ["mp4:720p:x", "no audio"],
  ["mp4:x:64k", "audio only"],
  ["mkv:copy:copy", "another container, without encoding"],
  ["webm:vp9_1080p", "VP9 and Opus"],
  ["mp3:192k", "an MP3 file"],
  ["jpg:320x", "images 320 pixels wide"],
];

/** The parser provides the canonical text. */
const exampleTable = (): Html =>
  table(
    "Examples of formats",
    ["Format", "Description", "Canonical form"],
    EXAMPLES.map(([format, meaning]) => {
      const parsed = parseFormat(format);
      return [code(format), meaning, parsed.ok ? code(printFormat(parsed.value)) : ""];
    }),
  );

const sizes =
  (): Html => html`<p>A preset sets a size and, without a bitrate or a quality, a bitrate. Video is fitted into sizes
with a width and padded, or cropped with <code>fit</code>. For other sizes, use <code>&lt;width&gt;x&lt;height&gt;</code>, up to
${MAX_SIDE} each; a side that is 0 or missing is computed from the other side.</p>
${table(
  "Presets",
  ["Preset", "Size", "Bitrate"],
  [...PRESETS].map(([name, { size, bitrateKbps }]) => [
    code(name),
    size.width === null ? `height ${size.height}, width from the source` : `${size.width} × ${size.height}`,
    `${bitrateKbps} kbit/s`,
  ]),
)}
<p>Frame rates: ${codes([...FRAME_RATES.keys()].map((rate) => `${rate}fps`))}; <code>0fps</code> is the frame rate of the source. Video
bitrates: <code>1k</code> to <code>${MAX_VIDEO_KBPS}k</code>. Sample rates: ${codes(SAMPLE_RATES_HZ.map((hz) => `${hz}hz`))}.
Channels: ${codes(CHANNELS)}.</p>`;

/** Aliases of a container. */
const aliases = (container: Container): string[] =>
  [...CONTAINERS_BY_NAME].filter(([name, target]) => target === container && name !== container).map(([name]) => name);

const names = (container: Container): Html =>
  html`${code(container)}${aliases(container).length > 0 ? html` (${codes(aliases(container))})` : ""}`;

const containers =
  (): Html => html`<p>The supported codecs of each container; the first is the default. Aliases of containers are in
parentheses.</p>
${table(
  "Containers of video and audio",
  ["Container", "Video", "Audio", "Default audio with"],
  Object.entries(TRACK_CONTAINER_TRAITS).map(([name, { video, audio, audioWithVideo = {} }]) => [
    names(name as Container),
    video.length > 0 ? codes(video) : "none",
    codes(audio),
    Object.entries(audioWithVideo).map(
      ([codec, audioCodec], at) => html`${at > 0 ? ", " : ""}${code(codec)}: ${code(audioCodec)}`,
    ),
  ]),
)}
${table(
  "Image containers",
  ["Container", "Images", "Media type"],
  Object.entries(IMAGE_CONTAINER_TRAITS).map(([name, { animated, mediaType }]) => [
    names(name as Container),
    animated ? `animated, at most ${MAX_ANIMATED_WIDTH} pixels wide` : "still",
    code(mediaType),
  ]),
)}
<p>The default variants of a stream are ${codes(DEFAULT_LADDER)}, without those larger than the source.</p>`;

const videoCodecs = (): Html =>
  table(
    "Video codecs",
    ["Codec", "Pixel formats", "Bitrate control", "Profiles", "Levels"],
    Object.entries(VIDEO_TRAITS).map(([name, { pixelFormats, rates, profiles, levels }]) => [
      code(name),
      codes(pixelFormats),
      codes(["quality", ...rates]),
      codes(Object.keys(profiles)),
      levels.join(", "),
    ]),
  );

const audioCodecs = (): Html =>
  table(
    "Audio codecs",
    ["Codec", "Bitrate in kbit/s", "Default", "Sample rates in Hz", "Maximum channels"],
    Object.entries(AUDIO_TRAITS).map(([name, { kbps, sampleRatesHz, maxChannels }]) => [
      code(name),
      kbps === null ? "lossless" : (kbps.steps?.join(", ") ?? `${kbps.min} to ${kbps.max}`),
      kbps === null ? "" : kbps.default,
      sampleRatesHz.length === SAMPLE_RATES_HZ.length ? "all" : sampleRatesHz.join(", "),
      maxChannels,
    ]),
  );

const OPTION_DESCRIPTIONS: Readonly<Record<(typeof OPTIONS)[number], string>> = {
  quality:
    "`quality=1` to `quality=5` (best), or `quality=vmaf93`: the fewest bits for a VMAF of 70 to 98; replaces the bitrate",
  maxrate: "`maxrate=3000k`: the maximum bitrate, with a quality or a bitrate",
  pix_fmt: `Pixel format: ${PIXEL_FORMATS.map((name) => `\`${name}\``).join(", ")}`,
  "2pass": "Encode in two passes, for a more accurate bitrate",
  metadata: "`metadata=0` omits the tags of the source",
  frag: "Write a fragmented file",
  vprofile: `Profile: ${PROFILES.map((name) => `\`${name}\``).join(", ")}`,
  level: "`level=41` is level 4.1",
};

const options = (): Html =>
  table(
    "Options",
    ["Option", "Description"],
    OPTIONS.map((option) => [code(option), prose(OPTION_DESCRIPTIONS[option])]),
  );
