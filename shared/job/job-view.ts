// Schema of a job in responses (contract, "Resources and their fields"), with additional fields.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { INPUT_STATUSES, JOB_STATUSES, WORK_STATES } from "./job-status.ts";
import { SegmentFormat } from "./output-spec.ts";
import { OUTPUT_STATUS, OUTPUT_TYPES } from "./output-status.ts";
import { Tags } from "./tags.ts";

/** All statuses of outputs of all types. */
export const OUTPUT_STATUSES = [...new Set(OUTPUT_TYPES.flatMap((type) => Object.values(OUTPUT_STATUS[type])))];

const percent = z.string().regex(/^(?:100|\d{1,2})%$/);
const failure = {
  error: z.string().exactOptional().describe("Why it failed, in a sentence"),
  error_code: z.string().exactOptional().describe("Why it failed, as an error code"),
};

/** A date in responses (contract, created_at). */
export const ContractDate = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/)
  .describe("YYYY-MM-DD HH:MM:SS +0000");

export const PlaylistUrl = z
  .object({
    format: z.enum(["hls", "dash"]),
    url: z.string(),
    segments: SegmentFormat.exactOptional().describe("The segments: MPEG-TS or fragmented MP4"),
  })
  .describe("A playlist (HLS) or manifest (DASH)")
  .register(NAMED, { id: "PlaylistUrl" });
export type PlaylistUrl = z.infer<typeof PlaylistUrl>;

export const LiveView = z
  .object({
    hls: z.string().exactOptional().describe("The URL of the HLS playlist"),
    dash: z.string().exactOptional().describe("The URL of the DASH manifest"),
    seconds: z.number().describe("How much of the stream can be played already, in seconds"),
  })
  .describe("Where an HTTP stream with `live_playlist` can be played while it is encoded");
export type LiveView = z.infer<typeof LiveView>;

export const OutputView = z
  .object({
    key: z.string().describe("The key from the request, or the format by default"),
    type: z.enum(OUTPUT_TYPES).describe("Audio outputs have the type video, too"),
    format: z.string().describe("The format from the request; in canonical form if the request has a `format` hash"),
    status: z.enum(OUTPUT_STATUSES),
    progress: percent.exactOptional().describe("Progress of this output; absent before it starts"),
    url: z.string().exactOptional().describe("The URL of a finished video"),
    urls: z
      .union([z.array(z.string()), z.array(PlaylistUrl)])
      .exactOptional()
      .describe(
        "The URLs of finished images, with a WebVTT file last, or the playlists and manifests of an HTTP stream",
      ),
    vtt_url: z.string().exactOptional().describe("The URL of the WebVTT file of images; also the last of `urls`"),
    live: LiveView.exactOptional(),
    encoder: z
      .string()
      .exactOptional()
      .describe(
        "ffmpeg's name of the encoder of a finished video or audio, such as `libx264`; `copy` without encoding",
      ),
    note: z.string().exactOptional().describe("Anything unusual about the encoding, in a sentence"),
    ...failure,
  })
  .describe("One output of a job")
  .register(NAMED, { id: "Output" });
export type OutputView = z.infer<typeof OutputView>;

export const InputView = z
  .object({
    status: z.enum(INPUT_STATUSES),
    ...failure,
    source: z
      .string()
      .exactOptional()
      .describe("Where the source is: its URL without user, password and query; of an upload `upload://<id>/<name>`"),
  })
  .describe("The input of a job")
  .register(NAMED, { id: "Input" });

export const UltrafastView = z
  .object({
    chunks: z.int().describe("Number of chunks; 0 if the input is encoded in one piece"),
    reason: z.string().exactOptional().describe("Why the input is not encoded in chunks, in a sentence"),
  })
  .describe("The result of `settings.ultrafast`; absent without this setting and before the inspection of the input");
export type UltrafastView = z.infer<typeof UltrafastView>;

export const JobView = z
  .object({
    id: z.string().describe("14 letters and digits"),
    created_at: ContractDate,
    completed_at: ContractDate.nullable().describe("When the job ended; null until then"),
    ends_at: ContractDate.nullable().describe(
      "When the job will probably end, from its progress over the last minute; null while unknown, and after the end",
    ),
    status: z.enum(JOB_STATUSES),
    state: z
      .enum(WORK_STATES)
      .exactOptional()
      .describe(
        "The work of a job that has not ended: `queued` while it waits for a node, `running` while a node inspects or " +
          "encodes, `storing` while only uploads are left",
      ),
    started_at: ContractDate.exactOptional().describe("When a node started to work on it; absent before that"),
    speed: z
      .number()
      .exactOptional()
      .describe("Of a completed job: seconds of the input for each second from `started_at` to `completed_at`"),
    progress: percent.describe("Progress of the job in percent; never decreases, and is 100% only at the end"),
    input: InputView,
    outputs: z.array(OutputView).describe("The outputs in the order of the request"),
    tags: Tags.exactOptional(),
    ultrafast: UltrafastView.exactOptional(),
    template: z.string().exactOptional().describe("The template of the job and its version, such as `web@3`"),
    waiting_for: z
      .string()
      .exactOptional()
      .describe(
        "Missing capability that the job waits for, if no node of the last ten minutes has it, such as `a node with libsvtav1`; " +
          "before `settings.start_at`, that time, such as `2026-12-01 02:00:00 +0000`; also the disk space that nodes lack, " +
          "or a storage that is unreachable",
      ),
  })
  .describe("A job")
  .register(NAMED, { id: "Job" });
export type JobView = z.infer<typeof JobView>;

/** Formats a time in ms as `YYYY-MM-DD HH:MM:SS +0000` (contract, created_at). */
export function contractDate(timeMs: number): string {
  const [date = "", time = ""] = new Date(timeMs).toISOString().split("T");
  return `${date} ${time.slice(0, 8)} +0000`;
}
