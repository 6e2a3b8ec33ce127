// A node's reports on its leases: POST /v2/nodes/leases/:lease/{outputs,complete,fail}
import * as z from "zod";
import { DroppedVideo } from "../job/dropped-video.ts";
import { OutputLoudness } from "../job/loudness.ts";
import { QualityReport } from "../job/quality.ts";
import { OutputSpeech } from "../job/speech.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { MAX_FILE_NUMBER, MAX_LENGTH_MS, MAX_OUTPUT_INDEX, MAX_TRACKS } from "../report-limits.ts";
import { ChunkBoundaryCheck, Chunking } from "./chunks.ts";
import { CommandReports } from "./commands.ts";
import { LeaseIdText, LeaseProof } from "./leases.ts";
import { AudioLoudness } from "./loudness.ts";
import { EncoderNames, FailureReport, Line } from "./reported-text.ts";
import { ScratchTrack } from "./scratch.ts";
import { ChunkTarget, TargetReports } from "./target.ts";
import { OutputIndex, UploadedFile } from "./uploads.ts";

/** ffprobe's data for each package of a stream. */
export const StreamProbes = z.object({ hls: MediaProbe.exactOptional(), dash: MediaProbe.exactOptional() });
export type StreamProbes = z.infer<typeof StreamProbes>;

export const OutputReport = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("made"),
    output: OutputIndex,
    /** For a stream, only the playlists that players open; they are stored last. */
    files: z.array(UploadedFile).min(1).max(MAX_FILE_NUMBER),
    /**
     * Probe of the file. Images: of the first file, null if it cannot be read. Streams: null, because each package has
     * its own.
     */
    probe: MediaProbe.nullable(),
    packages: StreamProbes.exactOptional(),
    /** ffmpeg's name of the video encoder, or of the audio encoder without video; or `copy`. Absent for images. */
    encoder: EncoderNames.exactOptional(),
    /** A sentence about the encode, for example that the hardware encoder failed. */
    note: Line(500).exactOptional(),
    /** Quality of the video, for jobs with `quality_report`. */
    quality: QualityReport.exactOptional(),
    /** Results of the searches for requested VMAFs. */
    targets: TargetReports.exactOptional(),
    /** The measured loudness and the chosen gains, for outputs with the parameter `loudness`. */
    loudness: OutputLoudness.exactOptional(),
    /** The recognized speech in the text of the output. */
    speech: OutputSpeech.exactOptional(),
    /** Videos that were left out of a stream. */
    dropped: z.array(DroppedVideo).max(50).exactOptional(),
  }),
  z.object({ status: z.literal("failed"), output: OutputIndex, failure: FailureReport }),
]);
export type OutputReport = z.infer<typeof OutputReport>;

const OutputReports = z
  .array(OutputReport)
  .min(1)
  .max(MAX_OUTPUT_INDEX + 1);
const Tracks = z.array(ScratchTrack).max(MAX_TRACKS);

/**
 * Outputs of an encode task that ended while the node continues with others. `complete` reports the remaining outputs,
 * at least a single output.
 */
export const OutputsReport = z.object({ token: LeaseProof.shape.token, outputs: OutputReports });
export type OutputsReport = z.infer<typeof OutputsReport>;

export const TaskResult = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("inspect"), probe: MediaProbe, chunking: Chunking.exactOptional() }),
  z.object({ kind: z.literal("encode"), outputs: OutputReports }),
  z.object({
    kind: z.literal("chunk"),
    tracks: Tracks.min(1),
    /** ffmpeg's name of the encoder of each track, and its version: all chunks of a track must have the same. */
    encoder: Line(200),
    encodeMs: z.number().min(0).max(MAX_LENGTH_MS),
    /** Results of the searches for requested VMAFs. */
    targets: z.array(ChunkTarget).max(MAX_TRACKS).exactOptional(),
  }),
  z.object({
    kind: z.literal("audio"),
    tracks: Tracks,
    loudness: z
      .array(AudioLoudness)
      .max(MAX_OUTPUT_INDEX + 1)
      .exactOptional(),
  }),
  z.object({ kind: z.literal("texts"), tracks: Tracks }),
  z.object({ kind: z.literal("join"), outputs: OutputReports, boundaries: ChunkBoundaryCheck }),
]);
export type TaskResult = z.infer<typeof TaskResult>;

/** The commands that ran for the lease. */
const commands = CommandReports.exactOptional();

export const CompleteReport = z.object({ token: LeaseProof.shape.token, result: TaskResult, commands });
export type CompleteReport = z.infer<typeof CompleteReport>;
export const FailReport = z.object({
  token: LeaseProof.shape.token,
  failure: FailureReport,
  /** The process that worked on the task has ended, and the node's next process reports it: the lease is lost. */
  hasCrashed: z.boolean().exactOptional(),
  commands,
});
export type FailReport = z.infer<typeof FailReport>;

/** A report on a lease. A node stores it until it is accepted, and sends it through its socket or by POST. */
export const LeaseReport = z.discriminatedUnion("verb", [
  z.object({ lease: LeaseIdText, verb: z.literal("outputs"), body: OutputsReport }),
  z.object({ lease: LeaseIdText, verb: z.literal("complete"), body: CompleteReport }),
  z.object({ lease: LeaseIdText, verb: z.literal("fail"), body: FailReport }),
]);
export type LeaseReport = z.infer<typeof LeaseReport>;
