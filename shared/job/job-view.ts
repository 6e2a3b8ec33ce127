// The job as clients see it (contract, "Resources and their fields"); extra members are additive.
import * as z from "zod";
import { INPUT_STATUSES, JOB_STATUSES } from "./job-status.ts";
import { OUTPUT_STATUS, OUTPUT_TYPES } from "./output-status.ts";

/** Every status that an output of any type can have. */
export const OUTPUT_STATUSES = [...new Set(OUTPUT_TYPES.flatMap((type) => Object.values(OUTPUT_STATUS[type])))];

const percent = z.string().regex(/^(?:100|\d{1,2})%$/);
const failure = {
  error: z.string().exactOptional().describe("Why it failed, in one sentence"),
  error_code: z.string().exactOptional().describe("Why it failed, as a code of the error table"),
};

/** A date as clients see it (contract, created_at). */
export const ContractDate = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/)
  .describe("YYYY-MM-DD HH:MM:SS +0000");

export const PlaylistUrl = z
  .object({ format: z.enum(["hls", "dash"]), url: z.string() })
  .describe("A playlist (HLS) or manifest (DASH)");
export type PlaylistUrl = z.infer<typeof PlaylistUrl>;

export const OutputView = z
  .object({
    key: z.string().describe("Its key in the request, or the one made from its format"),
    type: z.enum(OUTPUT_TYPES).describe("Outputs of sound alone are of type video too"),
    format: z.string().describe("As in the request; in its canonical form when a `format` hash came with it"),
    status: z.enum(OUTPUT_STATUSES),
    progress: percent.exactOptional().describe("Of this output alone; absent while there is nothing to tell"),
    url: z.string().exactOptional().describe("Where a finished video lies"),
    urls: z
      .union([z.array(z.string()), z.array(PlaylistUrl)])
      .exactOptional()
      .describe("Where finished images lie, a WebVTT file last; of an HTTP stream, its playlists and manifests"),
    encoder: z
      .string()
      .exactOptional()
      .describe("ffmpeg's name of what encoded a finished film or sound, such as `libx264`; `copy` when nothing did"),
    note: z.string().exactOptional().describe("How it was made, where that is not as usual, in one sentence"),
    ...failure,
  })
  .describe("One output of a job");
export type OutputView = z.infer<typeof OutputView>;

export const InputView = z.object({ status: z.enum(INPUT_STATUSES), ...failure }).describe("The input of a job");

export const UltrafastView = z
  .object({
    chunks: z.int().describe("How many chunks the film was cut into; 0 when it is encoded in one piece"),
    reason: z.string().exactOptional().describe("Why it is encoded in one piece, in one sentence"),
  })
  .describe("What became of `settings.ultrafast`; absent until the input was inspected, and when it was not asked for");
export type UltrafastView = z.infer<typeof UltrafastView>;

export const JobView = z
  .object({
    id: z.string().describe("14 letters and digits"),
    created_at: ContractDate,
    completed_at: ContractDate.nullable().describe("When the job ended; null until then"),
    status: z.enum(JOB_STATUSES),
    progress: percent.describe("Whole percent of all the work; never goes back, and is 100% only at the end"),
    input: InputView,
    outputs: z.array(OutputView).describe("In the order of the request"),
    ultrafast: UltrafastView.exactOptional(),
  })
  .describe("A job");
export type JobView = z.infer<typeof JobView>;

/** `YYYY-MM-DD HH:MM:SS +0000` (contract, created_at) of a time in ms. */
export function contractDate(timeMs: number): string {
  const [date = "", time = ""] = new Date(timeMs).toISOString().split("T");
  return `${date} ${time.slice(0, 8)} +0000`;
}
