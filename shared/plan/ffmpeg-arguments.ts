// What every call of ffmpeg begins with: how it reports, and how its inputs are opened.
import { ALLOWED_DEMUXERS, PICTURE_DEMUXERS } from "./demuxers.ts";
import { MAX_DECODED_PIXELS } from "./picture-limits.ts";

/** A local file that ffmpeg reads. */
export type PlannedInput = {
  /** Absolute; of `parts` relative to the run's folder. */
  readonly path: string;
  /** Options for this input (`-ss`, `-skip_frame`, …). */
  readonly options?: readonly string[];
  /** `picture`: only what holds single pictures may be opened. `parts`: pictures of an earlier run, by a name with a counter. */
  readonly kind?: "media" | "picture" | "parts";
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

/** `image2` opens whatever has such a name, which is safe for names that are our own. */
const DEMUXERS = { media: ALLOWED_DEMUXERS, picture: PICTURE_DEMUXERS, parts: "image2" } as const;

const inputArguments = ({ path, options = [], kind = "media" }: PlannedInput): string[] => [
  ...["-protocol_whitelist", "file"],
  ...["-format_whitelist", DEMUXERS[kind], ...(kind === "parts" ? ["-f", DEMUXERS.parts] : [])],
  ...options,
  ...["-max_pixels:v", String(MAX_DECODED_PIXELS), "-i", `file:${path}`],
];
