// The first arguments of every call of ffmpeg: how it reports, and how it opens its inputs.
import { ALLOWED_DECODERS, IMAGE_DECODERS } from "../../media/decoders.ts";
import { ALLOWED_DEMUXERS, IMAGE_DEMUXERS } from "../../media/demuxers.ts";

/** An input of ffmpeg. */
export type PlannedInput = {
  /**
   * Of a local file: absolute, or relative to the run's folder if an earlier run wrote it there. With `loopback` a URL.
   */
  readonly path: string;
  /** Options for this input (`-ss`, `-skip_frame`, …). */
  readonly options?: readonly string[];
  /**
   * `image`: only formats of single images may be opened. `frames`: images that an earlier run wrote, named with a
   * counter. `tags`: the tags of a source, which an earlier run wrote.
   */
  readonly kind?: "media" | "image" | "frames" | "tags";
  /** Set if the node itself serves this input: options that say which protocols and formats ffmpeg may use for it. */
  readonly loopback?: readonly string[];
};

/**
 * Value of `-max_pixels`: a decoder rejects larger frames, whatever the file's header states. Above the planner's own
 * limit (`source/frame-size.ts`), because decoders count the borders that they add.
 */
export const MAX_DECODED_PIXELS = 40_000_000;

const REPORTING: readonly string[] =
  "-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5".split(" ");

/**
 * All arguments up to and including the inputs, which are 0, 1, 2, … in filters. The options of an input apply to that
 * input only, so each input repeats the same limits: local files, listed demuxers and decoders, frames of a limited
 * size.
 */
export const openingArguments = (inputs: readonly PlannedInput[]): string[] => [
  ...REPORTING,
  ...inputs.flatMap(inputArguments),
];

/** A time or length in ms, as ffmpeg's `-ss` and `-t` take it. */
export const seconds = (ms: number): string => String(Number((ms / 1000).toFixed(6)));

/** `image2` opens any file with a matching name, which is safe because the node chooses these names. */
const DEMUXERS = {
  media: ALLOWED_DEMUXERS,
  image: IMAGE_DEMUXERS,
  frames: "image2",
  tags: "ffmetadata",
} as const;

/** Tags have no streams to decode. Copies of tracks decode nothing, but ffmpeg probes them like other media. */
const DECODERS = {
  media: ALLOWED_DECODERS,
  image: IMAGE_DECODERS,
  frames: "png",
  tags: "none",
} as const;

/** Formats that ffmpeg does not detect by itself. */
const EXPLICIT_FORMATS: ReadonlySet<NonNullable<PlannedInput["kind"]>> = new Set(["frames", "tags"]);

function localOptions(kind: NonNullable<PlannedInput["kind"]>): string[] {
  const format = EXPLICIT_FORMATS.has(kind) ? ["-f", DEMUXERS[kind]] : [];
  return [
    ...["-protocol_whitelist", "file"],
    ...["-format_whitelist", DEMUXERS[kind], ...format],
    ...["-codec_whitelist", DECODERS[kind]],
  ];
}

const inputArguments = ({ path, options = [], kind = "media", loopback }: PlannedInput): string[] => [
  ...(loopback ?? localOptions(kind)),
  ...options,
  ...["-max_pixels:v", String(MAX_DECODED_PIXELS), "-i", loopback ? path : `file:${path}`],
];
