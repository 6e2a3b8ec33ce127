// A format's text cut into its specs: `mp4:720p_25fps::quality=4` → mp4, resolution 720p, fps 25fps, quality 4.
import { type AskedSpecs, FormatError, OPTIONS, type SpecName } from "./asked-specs.ts";
import { AUDIO_CHOICES, VIDEO_CHOICES } from "./codecs.ts";
import { CONTAINERS_BY_NAME, type Container, isImageContainer, TRACK_CONTAINER_TRAITS } from "./containers.ts";
import { CHANNELS, FRAME_RATES, PRESETS } from "./presets.ts";

export type SplitFormat = { container: Container; asked: AskedSpecs };

/** Longest text: every spec fits several times. */
export const MAX_FORMAT_CHARS = 200;

/** Cuts a format into specs, each by its shape; what has none of the shapes is refused. Throws FormatError. */
export function splitFormat(text: string): SplitFormat {
  if (text.length > MAX_FORMAT_CHARS)
    throw new FormatError(null, `A format has at most ${MAX_FORMAT_CHARS} characters`);
  const [name = "", ...segments] = text.toLowerCase().split(":");
  const container = CONTAINERS_BY_NAME.get(name);
  if (!container) {
    const allowed = [...CONTAINERS_BY_NAME.keys()].join(", ");
    throw new FormatError(null, `Unknown container \`${name}\`; allowed: ${allowed} and, for streaming, httpstream`);
  }
  const kinds = segmentsOf(container);
  const rest = segments.slice(kinds.length);
  if (rest.some((segment) => segment !== "")) {
    const form = [name, ...kinds.map((kind) => `<${kind}>`)].join(":");
    throw new FormatError(null, `\`${rest.join(":")}\` is left over; a format of this container is \`${form}\``);
  }
  const asked = new Map<SpecName, string>();
  for (const [at, kind] of kinds.entries()) {
    for (const [spec, token] of cut(kind, segments[at] ?? "")) {
      if (asked.has(spec)) throw new FormatError(spec, `\`${token}\` gives \`${spec}\` a second time`);
      asked.set(spec, token);
    }
  }
  return { container, asked };
}

type Segment = "video" | "audio" | "options" | "size";

function segmentsOf(container: Container): readonly Segment[] {
  if (isImageContainer(container)) return ["size"];
  return TRACK_CONTAINER_TRAITS[container].video.length > 0 ? ["video", "audio", "options"] : ["audio", "options"];
}

type Shape = { spec: SpecName; fits: (token: string) => boolean };
type Words = { shapes: readonly Shape[]; allowed: string };

const like = (spec: SpecName, pattern: RegExp): Shape => ({ spec, fits: (token) => pattern.test(token) });
const word = (spec: SpecName, words: readonly string[]): Shape => ({ spec, fits: (token) => words.includes(token) });

const RESOLUTION = like("resolution", /^(?:\d+p|\d+x\d*|x\d+)$/);
const SIZES = `${[...PRESETS.keys()].join(", ")} or <width>x<height>`;
const RATES = `${[...FRAME_RATES.keys()].join(", ")} + fps`;

/** The specs of each segment that goes without names. `x` switches a track off. */
const WORDS: Readonly<Record<Exclude<Segment, "options">, Words>> = {
  size: { shapes: [RESOLUTION], allowed: SIZES },
  video: {
    shapes: [
      RESOLUTION,
      like("video_bitrate", /^\d+k$/),
      like("fps", /^[\d.]+fps$/),
      word("video_codec", [...VIDEO_CHOICES, "novideo", "x"]),
    ],
    allowed: `${SIZES}, <n>k, ${RATES}, ${VIDEO_CHOICES.join(", ")}, and x or novideo for no picture`,
  },
  audio: {
    shapes: [
      like("audio_bitrate", /^\d+k$/),
      like("sample_rate", /^\d+hz$/),
      word("audio_channel", CHANNELS),
      word("audio_codec", [...AUDIO_CHOICES, "pcm", "noaudio", "x"]),
    ],
    allowed: `<n>k, <n>hz, ${CHANNELS.join(", ")}, ${AUDIO_CHOICES.join(", ")}, and x or noaudio for no sound`,
  },
};

/** Names that may be written with the `_` that otherwise joins specs. */
const HYPHENATED = [...VIDEO_CHOICES, ...AUDIO_CHOICES, "pix-fmt"].filter((name) => name.includes("-"));

/** The tokens of a segment, each with the spec that it gives. */
function cut(kind: Segment, segment: string): [SpecName, string][] {
  const whole = HYPHENATED.reduce((text, name) => text.replaceAll(name.replace("-", "_"), name), segment);
  const tokens = whole.split(kind === "options" ? /[,_]/ : "_").filter((token) => token !== "");
  return tokens.map((token) => (kind === "options" ? optionOf(token) : [specOf(kind, token), token]));
}

function specOf(kind: Exclude<Segment, "options">, token: string): SpecName {
  const { shapes, allowed } = WORDS[kind];
  const shape = shapes.find(({ fits }) => fits(token));
  if (shape) return shape.spec;
  throw new FormatError(null, `Unknown ${kind} specification \`${token}\`; allowed: ${allowed}`);
}

const FLAGS: readonly string[] = ["2pass", "frag"] satisfies SpecName[];

function optionOf(token: string): [SpecName, string] {
  const [, name = "", value = FLAGS.includes(name) ? "1" : ""] = /^([^=]*)(?:=(.*))?$/s.exec(token) ?? [];
  const option = OPTIONS.find((known) => known.replace("_", "-") === name);
  if (option) return [option, value];
  const allowed = OPTIONS.map((known) => (FLAGS.includes(known) ? known : `${known}=…`)).join(", ");
  throw new FormatError(null, `Unknown option \`${token}\`; allowed: ${allowed}`);
}
