// What every call of ffmpeg begins with: how it reports, and how its inputs are opened.
import { ALLOWED_DECODERS, PICTURE_DECODERS } from "../../media/decoders.ts";
import { ALLOWED_DEMUXERS, PICTURE_DEMUXERS } from "../../media/demuxers.ts";
import { MAX_DECODED_PIXELS } from "../source/frame-size-limit.ts";

/** What ffmpeg reads. */
export type PlannedInput = {
  /** Of a local file: absolute, or relative to the run's folder where that made it. With `served` a URL. */
  readonly path: string;
  /** Options for this input (`-ss`, `-skip_frame`, …). */
  readonly options?: readonly string[];
  /**
   * `picture`: only what holds single pictures may be opened. `parts`: pictures of an earlier run, by a name with a counter.
   * `tags`: what an earlier run wrote down of a film's tags.
   */
  readonly kind?: "media" | "picture" | "parts" | "tags";
  /** For what the node itself serves: which protocols and formats may be opened, and how. */
  readonly served?: readonly string[];
};

const REPORTING: readonly string[] =
  "-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5".split(" ");

/**
 * Arguments up to and with the inputs, which are 0, 1, 2, … in the filters. Options of an input count for that input only, so
 * each is opened under the same limits: local files, listed demuxers and decoders, pictures of a bounded size.
 */
export const openingArguments = (inputs: readonly PlannedInput[]): string[] => [
  ...REPORTING,
  ...inputs.flatMap(argumentsOfInput),
];

/** `image2` opens whatever has such a name, which is safe for names that are our own. */
const DEMUXERS = {
  media: ALLOWED_DEMUXERS,
  picture: PICTURE_DEMUXERS,
  parts: "image2",
  tags: "ffmetadata",
} as const;

/** Tags have no streams; copies of tracks, which decode nothing, are probed like media. */
const DECODERS = {
  media: ALLOWED_DECODERS,
  picture: PICTURE_DECODERS,
  parts: "png",
  tags: "none",
} as const;

/** Formats that ffmpeg does not find out by itself. */
const NAMED: ReadonlySet<NonNullable<PlannedInput["kind"]>> = new Set(["parts", "tags"]);

const localOptions = (kind: NonNullable<PlannedInput["kind"]>): string[] => [
  ...["-protocol_whitelist", "file"],
  ...["-format_whitelist", DEMUXERS[kind], ...(NAMED.has(kind) ? ["-f", DEMUXERS[kind]] : [])],
  ...["-codec_whitelist", DECODERS[kind]],
];

const argumentsOfInput = ({ path, options = [], kind = "media", served }: PlannedInput): string[] => [
  ...(served ?? localOptions(kind)),
  ...options,
  ...["-max_pixels:v", String(MAX_DECODED_PIXELS), "-i", served ? path : `file:${path}`],
];
