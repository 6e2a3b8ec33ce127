// The format grammar, from the tables that formats are parsed by.
import { OPTIONS } from "#shared/format/asked-specs.ts";
import { AUDIO_TRAITS, PIXEL_FORMATS, PROFILES, SAMPLE_RATES_HZ, VIDEO_TRAITS } from "#shared/format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  type Container,
  IMAGE_CONTAINER_TRAITS,
  TRACK_CONTAINER_TRAITS,
} from "#shared/format/containers.ts";
import { DEFAULT_LADDER } from "#shared/format/ladder.ts";
import { parseFormat } from "#shared/format/parse-format.ts";
import { CHANNELS, FRAME_RATES, MAX_MOVING_WIDTH, MAX_SIDE, MAX_VIDEO_KBPS, PRESETS } from "#shared/format/presets.ts";
import { printFormat } from "#shared/format/print-format.ts";
import { block, code, codes, type Html, html, prose, section, table } from "../markup.ts";

const GRAMMAR = `video   container[:video[:audio[:options]]]
sound   container[:audio[:options]]
image   container[:size]
stream  httpstream`;

export const formats = (): Html =>
  section(
    2,
    "formats",
    "Formats",
    html`<p>Each property name in <code>outputs</code> is a format. Specs inside a segment are joined by <code>_</code> in any
order, options by <code>,</code> or <code>_</code>. An empty segment means defaults, and segments at the end may be left
out. <code>x</code> switches a track off, <code>copy</code> takes it as it is. Upper and lower case are the same. Whatever is
there must be understood: a word that is not known is refused with <code>output_format_not_valid</code>.</p>`,
    block(GRAMMAR, "Format grammar"),
    section(3, "format-examples", "Examples", exampleTable()),
    section(3, "presets", "Sizes, frame rates, bitrates", sizes()),
    section(3, "containers", "Containers", containers()),
    section(3, "video-codecs", "Video codecs", videoCodecs()),
    section(3, "audio-codecs", "Audio codecs", audioCodecs()),
    section(3, "format-options", "Options", options()),
  );

const EXAMPLES: readonly (readonly [format: string, meaning: string])[] = [
  ["mp4", "H.264 and AAC in the source's size"],
  ["mp4:720p", "fitted into 1280 × 720"],
  ["mp4:640x_25fps_900k:mono_64k", "640 pixels wide, 25 frames per second, with bitrates"],
  ["mp4:1080p::quality=4,maxrate=6000k", "as many bits as the quality takes, up to a limit"],
  ["mp4:720p:x", "no sound"],
  ["mp4:x:64k", "sound alone"],
  ["mkv:copy:copy", "another container, nothing encoded"],
  ["webm:vp9_1080p", "VP9, with Opus beside it"],
  ["mp3:192k", "sound in an MP3 file"],
  ["jpg:320x", "images 320 pixels wide"],
];

/** The canonical text comes of the parser itself. */
const exampleTable = (): Html =>
  table(
    "Examples of formats",
    ["Format", "Meaning", "In full"],
    EXAMPLES.map(([format, meaning]) => {
      const parsed = parseFormat(format);
      return [code(format), meaning, parsed.ok ? code(printFormat(parsed.spec)) : ""];
    }),
  );

const sizes =
  (): Html => html`<p>A preset sets a size and, unless a bitrate or a quality is given, a bitrate. Those with a
width are boxes into which the picture is fitted and padded, or cropped with <code>fit</code>. A size of one's own is
<code>&lt;width&gt;x&lt;height&gt;</code>, up to ${MAX_SIDE} each; a side that is 0 or missing follows from the other.</p>
${table(
  "Presets",
  ["Preset", "Size", "Bitrate"],
  [...PRESETS].map(([name, { size, bitrateKbps }]) => [
    code(name),
    size.width === null ? `${size.height} lines, width from the source` : `${size.width} × ${size.height}`,
    `${bitrateKbps} kbit/s`,
  ]),
)}
<p>Frame rates: ${codes([...FRAME_RATES.keys()].map((rate) => `${rate}fps`))}; <code>0fps</code> is the source's own. Video
bitrates: <code>1k</code> to <code>${MAX_VIDEO_KBPS}k</code>. Sample rates: ${codes(SAMPLE_RATES_HZ.map((hz) => `${hz}hz`))}.
Channels: ${codes(CHANNELS)}.</p>`;

/** Other names of a container. */
const aliases = (container: Container): string[] =>
  [...CONTAINERS_BY_NAME].filter(([name, target]) => target === container && name !== container).map(([name]) => name);

const names = (container: Container): Html =>
  html`${code(container)}${aliases(container).length > 0 ? html` (${codes(aliases(container))})` : ""}`;

const containers = (): Html => html`<p>Codecs that each container can hold; the first is the default. Other names of a
container are in brackets.</p>
${table(
  "Containers of video and sound",
  ["Container", "Video", "Audio", "Default audio beside"],
  Object.entries(TRACK_CONTAINER_TRAITS).map(([name, { video, audio, audioBeside = {} }]) => [
    names(name as Container),
    video.length > 0 ? codes(video) : "none",
    codes(audio),
    Object.entries(audioBeside).map(
      ([codec, beside], at) => html`${at > 0 ? ", " : ""}${code(codec)}: ${code(beside)}`,
    ),
  ]),
)}
${table(
  "Image containers",
  ["Container", "Images", "Media type"],
  Object.entries(IMAGE_CONTAINER_TRAITS).map(([name, { moves, mediaType }]) => [
    names(name as Container),
    moves ? `one that moves, at most ${MAX_MOVING_WIDTH} pixels wide` : "that stand still",
    code(mediaType),
  ]),
)}
<p>A stream makes, unless it names variants of its own, those of ${codes(DEFAULT_LADDER)} that are not larger than the
source.</p>`;

const videoCodecs = (): Html =>
  table(
    "Video codecs",
    ["Codec", "Pixel formats", "Bits by", "Profiles", "Levels"],
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
    ["Codec", "Bitrate in kbit/s", "Default", "Sample rates in Hz", "Channels up to"],
    Object.entries(AUDIO_TRAITS).map(([name, { kbps, sampleRatesHz, maxChannels }]) => [
      code(name),
      kbps === null ? "keeps every sample" : (kbps.steps?.join(", ") ?? `${kbps.min} to ${kbps.max}`),
      kbps === null ? "" : kbps.default,
      sampleRatesHz.length === SAMPLE_RATES_HZ.length ? "all" : sampleRatesHz.join(", "),
      maxChannels,
    ]),
  );

const OPTION_MEANINGS: Readonly<Record<(typeof OPTIONS)[number], string>> = {
  quality: "`quality=1` to `quality=5`, 5 best; takes the place of a bitrate",
  maxrate: "`maxrate=3000k`: the highest bitrate, beside a quality or a bitrate",
  pix_fmt: `Pixel format: ${PIXEL_FORMATS.map((name) => `\`${name}\``).join(", ")}`,
  "2pass": "Two passes, for a bitrate that is met more closely",
  metadata: "`metadata=0` leaves the source's tags out",
  frag: "The file is written in fragments",
  vprofile: `Profile: ${PROFILES.map((name) => `\`${name}\``).join(", ")}`,
  level: "`level=41` is level 4.1",
};

const options = (): Html =>
  table(
    "Options",
    ["Option", "Meaning"],
    OPTIONS.map((option) => [code(option), prose(OPTION_MEANINGS[option])]),
  );
