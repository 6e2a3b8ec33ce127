// What every call of ffmpeg begins with: how it reports, and how its inputs are opened.
import { ALLOWED_DEMUXERS, PICTURE_DEMUXERS } from "./demuxers.ts";
import { MAX_DECODED_PIXELS } from "./picture-limits.ts";

/** A local file that ffmpeg reads. */
export type PlannedInput = {
  /** Absolute. */
  readonly path: string;
  /** Options for this input (`-ss`, `-skip_frame`, …). */
  readonly options?: readonly string[];
  /** `picture`: only what holds single pictures may be opened. */
  readonly kind?: "media" | "picture";
};

const REPORTING: readonly string[] =
  "-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5".split(" ");

/**
 * Arguments up to and with the inputs, which are 0, 1, 2, … in the filters. Options of an input count for that input only, so
 * each is opened under the same limits: local files, listed demuxers, pictures of a bounded size.
 */
export const headArguments = (inputs: readonly PlannedInput[]): string[] => [
  ...REPORTING,
  ...inputs.flatMap(inputArguments),
];

const inputArguments = ({ path, options = [], kind = "media" }: PlannedInput): string[] => [
  ...["-protocol_whitelist", "file"],
  ...["-format_whitelist", kind === "picture" ? PICTURE_DEMUXERS : ALLOWED_DEMUXERS],
  ...options,
  ...["-max_pixels:v", String(MAX_DECODED_PIXELS), "-i", `file:${path}`],
];
