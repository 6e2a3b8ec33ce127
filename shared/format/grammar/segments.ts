// The segments of a format and the tokens of each segment, with the spec that each token sets.

import { AUDIO_CHOICES, CHANNELS, SAMPLE_RATES_HZ, VIDEO_CHOICES } from "../codecs.ts";
import { type Container, isImageContainer, isTextContainer, TRACK_CONTAINER_TRAITS } from "../containers.ts";
import { FRAME_RATES, PRESETS } from "../presets.ts";
import { FILE_SPECS, OPTIONS, type SpecName, VIDEO_SPECS } from "./requested-specs.ts";

/** `none`: always empty, so that options have the same segment number as options of videos. */
export type Segment = "video" | "audio" | "options" | "size" | "none";

export function segmentsOf(container: Container): readonly Segment[] {
  if (isTextContainer(container)) return [];
  if (isImageContainer(container)) return ["size", "none", "options"];
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? ["video", "audio", "options"] : ["audio", "options"];
}

type Shape = { spec: SpecName; fits: (token: string) => boolean };
type Tokens = {
  /** In the order of printed formats. */
  shapes: readonly Shape[];
  allowed: string;
  /** Tokens to compare a misspelled token with. */
  known: readonly string[];
};

const like = (spec: SpecName, pattern: RegExp): Shape => ({ spec, fits: (token) => pattern.test(token) });
const anyOf = (spec: SpecName, names: readonly string[]): Shape => ({ spec, fits: (token) => names.includes(token) });

/** `x264` and `x265` are encoders. The heights are `0x264` and `0x265`. */
const RESOLUTION = like("resolution", /^(?:\d+p|\d+x\d*|x(?!26[45]$)\d+)$/);
const SIZES = `${[...PRESETS.keys()].join(", ")} or <width>x<height>`;
const RATES = `${[...FRAME_RATES.keys()].join(", ")} + fps`;

/** Tokens of the segments with unnamed specs. `x` disables a track. */
export const TOKENS: Readonly<Record<Exclude<Segment, "options">, Tokens>> = {
  size: { shapes: [RESOLUTION], allowed: SIZES, known: [...PRESETS.keys()] },
  none: { shapes: [], allowed: "nothing", known: [] },
  video: {
    shapes: [
      RESOLUTION,
      like("video_bitrate", /^\d+k$/),
      anyOf("video_codec", [...VIDEO_CHOICES, "novideo", "x"]),
      like("fps", /^[\d.]+fps$/),
    ],
    allowed: `${SIZES}, <n>k, ${RATES}, ${VIDEO_CHOICES.join(", ")}, and x or novideo for no video`,
    known: [...VIDEO_CHOICES, "novideo", ...PRESETS.keys(), ...[...FRAME_RATES.keys()].map((rate) => `${rate}fps`)],
  },
  audio: {
    shapes: [
      anyOf("audio_codec", [...AUDIO_CHOICES, "pcm", "noaudio", "x"]),
      like("audio_bitrate", /^\d+k$/),
      like("sample_rate", /^\d+hz$/),
      anyOf("audio_channel", CHANNELS),
    ],
    allowed: `<n>k, <n>hz, ${CHANNELS.join(", ")}, ${AUDIO_CHOICES.join(", ")}, and x or noaudio for no audio`,
    known: [...AUDIO_CHOICES, "pcm", "noaudio", ...CHANNELS, ...SAMPLE_RATES_HZ.map((rate) => `${rate}hz`)],
  },
};

/** Names that clients may write with `_`, which otherwise separates specs. */
const HYPHENATED = [...VIDEO_CHOICES, ...AUDIO_CHOICES, "pix-fmt"].filter((name) => name.includes("-"));

/** Returns the tokens of a segment, in the client's spelling. */
export function tokensOf(kind: Segment, segment: string): string[] {
  const whole = HYPHENATED.reduce(
    (text, name) => text.replaceAll(new RegExp(name.replace("-", "_"), "gi"), name),
    segment,
  );
  return whole.split(kind === "options" ? /[,_]/ : "_").filter((token) => token !== "");
}

/** Returns the spec that a token sets, and its value in the client's spelling; null for an unknown token. */
export function specOf(kind: Segment, token: string): [SpecName, string] | null {
  if (kind === "options") return optionOf(token);
  const shape = TOKENS[kind].shapes.find(({ fits }) => fits(token.toLowerCase()));
  return shape ? [shape.spec, token] : null;
}

const FLAGS: readonly string[] = ["2pass", "frag"] satisfies SpecName[];

function optionOf(token: string): [SpecName, string] | null {
  const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(token) ?? [];
  const option = OPTIONS.find((known) => known.replace("_", "-") === name.toLowerCase());
  return option ? [option, value ?? (FLAGS.includes(option) ? "1" : "")] : null;
}

const isOption = (spec: SpecName): boolean => OPTIONS.some((option) => option === spec);

/** Returns the specs of a segment, in the order of printed formats. */
export const specsIn = (kind: Segment): readonly SpecName[] =>
  kind === "options" ? [...VIDEO_SPECS, ...FILE_SPECS].filter(isOption) : TOKENS[kind].shapes.map(({ spec }) => spec);

/** Returns the token that sets a spec; `specOf` reads it. */
export function tokenOf(spec: SpecName, value: string): string {
  if (!isOption(spec)) return value;
  return FLAGS.includes(spec) && value === "1" ? spec : `${spec}=${value}`;
}

/** Returns the allowed tokens of a segment as part of a sentence. */
export function allowedIn(kind: Segment): string {
  if (kind !== "options") return TOKENS[kind].allowed;
  return OPTIONS.map((known) => (FLAGS.includes(known) ? known : `${known}=…`)).join(", ");
}
