// The words of each segment of a format, and which spec each of them gives.
import { OPTIONS, type SpecName } from "./asked-specs.ts";
import { AUDIO_CHOICES, SAMPLE_RATES_HZ, VIDEO_CHOICES } from "./codecs.ts";
import { type Container, isImageContainer, TRACK_CONTAINER_TRAITS } from "./containers.ts";
import { CHANNELS, FRAME_RATES, PRESETS } from "./presets.ts";

export type Segment = "video" | "audio" | "options" | "size";

export function segmentsOf(container: Container): readonly Segment[] {
  if (isImageContainer(container)) return ["size"];
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? ["video", "audio", "options"] : ["audio", "options"];
}

type Shape = { spec: SpecName; fits: (token: string) => boolean };
type Words = {
  shapes: readonly Shape[];
  allowed: string /** Words to compare others with. */;
  known: readonly string[];
};

const like = (spec: SpecName, pattern: RegExp): Shape => ({ spec, fits: (token) => pattern.test(token) });
const word = (spec: SpecName, words: readonly string[]): Shape => ({ spec, fits: (token) => words.includes(token) });

/** `x264` and `x265` are encoders: as a height they are written `0x264`. */
const RESOLUTION = like("resolution", /^(?:\d+p|\d+x\d*|x(?!26[45]$)\d+)$/);
const SIZES = `${[...PRESETS.keys()].join(", ")} or <width>x<height>`;
const RATES = `${[...FRAME_RATES.keys()].join(", ")} + fps`;

/** The specs of each segment that goes without names. `x` switches a track off. */
export const WORDS: Readonly<Record<Exclude<Segment, "options">, Words>> = {
  size: { shapes: [RESOLUTION], allowed: SIZES, known: [...PRESETS.keys()] },
  video: {
    shapes: [
      RESOLUTION,
      like("video_bitrate", /^\d+k$/),
      like("fps", /^[\d.]+fps$/),
      word("video_codec", [...VIDEO_CHOICES, "novideo", "x"]),
    ],
    allowed: `${SIZES}, <n>k, ${RATES}, ${VIDEO_CHOICES.join(", ")}, and x or novideo for no picture`,
    known: [...VIDEO_CHOICES, "novideo", ...PRESETS.keys(), ...[...FRAME_RATES.keys()].map((rate) => `${rate}fps`)],
  },
  audio: {
    shapes: [
      like("audio_bitrate", /^\d+k$/),
      like("sample_rate", /^\d+hz$/),
      word("audio_channel", CHANNELS),
      word("audio_codec", [...AUDIO_CHOICES, "pcm", "noaudio", "x"]),
    ],
    allowed: `<n>k, <n>hz, ${CHANNELS.join(", ")}, ${AUDIO_CHOICES.join(", ")}, and x or noaudio for no sound`,
    known: [...AUDIO_CHOICES, "pcm", "noaudio", ...CHANNELS, ...SAMPLE_RATES_HZ.map((rate) => `${rate}hz`)],
  },
};

/** Names that may be written with the `_` that otherwise joins specs. */
const HYPHENATED = [...VIDEO_CHOICES, ...AUDIO_CHOICES, "pix-fmt"].filter((name) => name.includes("-"));

/** The tokens of a segment, as they were written. */
export function tokensOf(kind: Segment, segment: string): string[] {
  const whole = HYPHENATED.reduce(
    (text, name) => text.replaceAll(new RegExp(name.replace("-", "_"), "gi"), name),
    segment,
  );
  return whole.split(kind === "options" ? /[,_]/ : "_").filter((token) => token !== "");
}

/** The spec that a token of a segment gives, and its value as it was written; null when it gives none. */
export function specOf(kind: Segment, token: string): [SpecName, string] | null {
  if (kind === "options") return optionOf(token);
  const shape = WORDS[kind].shapes.find(({ fits }) => fits(token.toLowerCase()));
  return shape ? [shape.spec, token] : null;
}

const FLAGS: readonly string[] = ["2pass", "frag"] satisfies SpecName[];

function optionOf(token: string): [SpecName, string] | null {
  const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(token) ?? [];
  const option = OPTIONS.find((known) => known.replace("_", "-") === name.toLowerCase());
  return option ? [option, value ?? (FLAGS.includes(option) ? "1" : "")] : null;
}

/** What a segment allows, in words. */
export function allowedIn(kind: Segment): string {
  if (kind !== "options") return WORDS[kind].allowed;
  return OPTIONS.map((known) => (FLAGS.includes(known) ? known : `${known}=…`)).join(", ");
}
