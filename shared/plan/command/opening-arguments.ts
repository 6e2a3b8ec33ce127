// The first arguments of every call of ffmpeg. They set its reporting and open its inputs.
import { ALLOWED_DECODERS, IMAGE_DECODERS } from "../../media/decoders.ts";
import { ALLOWED_DEMUXERS, IMAGE_DEMUXERS } from "../../media/demuxers.ts";

/** An input of ffmpeg. */
export type PlannedInput = {
  /**
   * Path of a local file: absolute, or relative to the run's folder if an earlier run wrote the file there. With
   * `loopback`: a URL.
   */
  readonly path: string;
  /** Options for this input (`-ss`, `-skip_frame`, …). */
  readonly options?: readonly string[];
  /**
   * `image`: only formats of single images may be opened. `frames`: images by an earlier run, named with a counter.
   * `tags`: tags of a source, written by an earlier run. `text`: WebVTT, SubRip or ASS that the node wrote.
   */
  readonly kind?: "media" | "image" | "frames" | "tags" | "text";
  /** Set if the node itself serves this input: options with the protocols and formats that ffmpeg may use for it. */
  readonly loopback?: readonly string[];
};

/**
 * Value of `-max_pixels`: a decoder rejects larger frames, whatever the file's header states. Higher than the planner's
 * own limit (`source/frame-size.ts`), because decoders count the borders that they add.
 */
export const MAX_DECODED_PIXELS = 40_000_000;

const REPORTING: readonly string[] =
  "-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5".split(" ");

/**
 * All arguments up to the last input. Filters name the inputs 0, 1, 2, … The options of an input apply to that input
 * only, so each input repeats the same limits. The limits are local files, listed demuxers and decoders, and frames of
 * a limited size.
 */
export const openingArguments = (inputs: readonly PlannedInput[]): string[] => [
  ...REPORTING,
  ...inputs.flatMap(inputArguments),
];

/** Formats a time or length in ms for ffmpeg's `-ss` and `-t`. */
export const seconds = (ms: number): string => String(Number((ms / 1000).toFixed(6)));

/** `image2` opens any file with a matching name. This is safe because the node chooses these names. */
const DEMUXERS = {
  media: ALLOWED_DEMUXERS,
  image: IMAGE_DEMUXERS,
  frames: "image2",
  tags: "ffmetadata",
  text: "webvtt,srt,ass",
} as const;

/** Tags have no streams to decode. Copies of tracks decode nothing, but ffmpeg probes them like other media. */
const DECODERS = {
  media: ALLOWED_DECODERS,
  image: IMAGE_DECODERS,
  frames: "png",
  tags: "none",
  text: "webvtt,subrip,srt,ass,ssa",
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
