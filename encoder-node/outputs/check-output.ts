// Checks that ffmpeg made the planned files: its exit status alone proves nothing.
import { AppError, type Failure } from "#shared/errors.ts";
import type { DroppedVideo } from "#shared/job/dropped-video.ts";
import type { LoudnessMetadata } from "#shared/job/loudness.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { SpeechMetadata } from "#shared/job/speech.ts";
import { errorCode } from "#shared/log.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { NeededFrame, PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { type PlannedTrack, toleranceMs } from "#shared/plan/source/output-length.ts";
import { ownLengthMs } from "#shared/plan/source/track-length.ts";
import { DECODED_STEP_MS, DECODED_TIMES, lastDecodedMs } from "#shared/plan/thumbnails/decoded-times.ts";
import type { Publication, Publications } from "../publish/publication.ts";
import { type MadeVideo, madeVideos } from "../quality/made-video.ts";
import { readEnd } from "../run-files/open-file.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { probeSmallFile } from "../source/probe/probe.ts";
import { packetEndsMs } from "../source/probe/read-packets.ts";
import type { EarlyUpload } from "../upload/early-upload.ts";
import {
  checkEnd,
  isLongEnough,
  type MadeFile,
  madeFile,
  missingTrack,
  type ProbeDeps,
  probeResult,
  uploadable,
} from "../upload/made-file.ts";

export type MadeOutput = {
  output: number;
  files: MadeFile[];
  probe: MediaProbe | null;
  /** The encoder's name in ffmpeg; absent for images. */
  encoder?: string;
  /** Sentences for the client about how the output was made. */
  note?: string;
  /** The search for the rate factors of requested VMAFs; absent without any. */
  targets?: TargetMetadata[];
  /** The measured loudness and the chosen gains; absent if loudness was not requested. */
  loudness?: LoudnessMetadata[];
  /** The recognized speech; absent if no speech was requested. */
  speech?: SpeechMetadata[];
  /** Videos that were left out of a stream. */
  dropped?: DroppedVideo[];
  /** The encoded video tracks. */
  videos?: MadeVideo[];
  /** The quality of the video; absent if it is not measured. */
  quality?: Promise<QualityReport>;
  /** Set for a stream: its files are being uploaded already, and `files` is empty. */
  publication?: Publication;
};

export type FailedOutput = { output: number; failure: Failure };

/** The result of one run of ffmpeg. */
export type RunResult = {
  readonly specs: readonly OutputSpec[];
  readonly files: RunFiles;
  readonly publications: Publications;
  /** By output: files that were uploaded while they were written; absent: none. */
  readonly uploads?: ReadonlyMap<number, EarlyUpload>;
};

/** Adds a sentence to the note of an output. */
export function withNote<Made extends MadeOutput | FailedOutput>(made: Made, note: string | undefined): Made {
  if (note === undefined || "failure" in made) return made;
  return { ...made, note: made.note === undefined ? note : `${made.note} ${note}` };
}

/** Checks the files of an output, or the tracks of a stream. Returns a failure when they are not as planned. */
export const checkOutput = async (
  planned: PlannedOutput,
  result: RunResult,
  deps: ProbeDeps,
): Promise<MadeOutput | FailedOutput> => withNote(await checkFiles(planned, result, deps), planned.note);

async function checkFiles(
  planned: PlannedOutput,
  { specs, files: runFiles, publications, uploads }: RunResult,
  deps: ProbeDeps,
): Promise<MadeOutput | FailedOutput> {
  const { output, growing } = planned;
  const spec = specs.find(({ index }) => index === output);
  const early = uploads?.get(output);
  early?.halt();
  const publication = publications.get(output);
  try {
    if (publication) {
      await publication.check();
      const videos = madeVideos(planned, runFiles.folder);
      return { output, files: [], probe: null, publication, videos, ...droppedVariants(spec) };
    }
    const files = await Promise.all(planned.files.map((name) => madeFile(runFiles.pathOf(name))));
    const [first] = files;
    if (spec?.type === "image") {
      if (planned.neededFrame) await checkDecoded(planned.neededFrame, runFiles);
      const probe = first ? await probeSmallFile(deps.ffprobe, first.path, deps.signal) : null;
      return { output, files, probe };
    }
    if (!first) throw new AppError("encoding_failed", "The encoder made no file");
    const probe = await probeResult(first.path, deps);
    checkTracks(planned.tracks, probe);
    await checkTrackEnds(planned.tracks, { path: first.path, probe }, deps);
    const videos = madeVideos(planned, runFiles.folder);
    if (!growing) return { output, files, probe, videos };
    const file = await uploadable(first, growing.indexAtEnd, early);
    return { output, files: [file], probe: withSize(probe, file.sizeBytes), videos };
  } catch (error) {
    await early?.stop();
    deps.signal.throwIfAborted();
    const message = error instanceof AppError ? error.message : "The encoder made no usable file";
    return { output, failure: { code: "encoding_failed", message } };
  }
}

const droppedVariants = (spec: OutputSpec | undefined): Pick<MadeOutput, "dropped"> =>
  spec?.type === "httpstream" && spec.dropped ? { dropped: spec.dropped } : {};

/** The probe with the real file size, which a `free` box may change. */
function withSize(probe: MediaProbe, sizeBytes: number): MediaProbe {
  const { format } = probe;
  const seconds = Number(format.duration);
  if (format.size === String(sizeBytes) || !(seconds > 0)) return probe;
  const bitRate = String(Math.round((sizeBytes * 8) / seconds));
  return { ...probe, format: { ...format, size: String(sizeBytes), bit_rate: bitRate } };
}

function checkTracks(planned: readonly PlannedTrack[], { streams }: MediaProbe): void {
  const missing = planned.find(
    ({ kind, at = 0 }) =>
      streams.filter(({ codec_type, nb_frames }) => codec_type === kind && nb_frames !== "0").length <= at,
  );
  if (missing) throw missingTrack(missing.kind);
}

/** Long enough for several lines of times. */
const TAIL_BYTES = 4096;

const withoutFile = (error: unknown): string => {
  if (errorCode(error) === "ENOENT") return "";
  throw error;
};

/**
 * All images after the last decodable frame would show that frame. So the source's video must have been decoded up to
 * the frame of the last image, within the tolerance.
 */
async function checkDecoded({ startMs, timestampMs, originMs }: NeededFrame, files: RunFiles): Promise<void> {
  const lastMs = lastDecodedMs(await readEnd(files.pathOf(DECODED_TIMES), TAIL_BYTES).catch(withoutFile));
  const decodedMs = lastMs === null ? Number.NEGATIVE_INFINITY : lastMs + originMs;
  if (decodedMs + DECODED_STEP_MS >= startMs - toleranceMs(timestampMs)) return;
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  const ends = `The input's video ends before ${seconds(timestampMs)} s, the timestamp of an image`;
  const last = lastMs === null ? "none of its frames" : `only its frames up to ${seconds(decodedMs)} s`;
  throw new AppError("encoding_failed", `${ends}; ${last} can be decoded, it may be damaged or truncated`);
}

// Checks that each track of a file has its planned length.

/** Demuxers (ffprobe's names) whose files state the length of each track. Others estimate it, or state one length. */
const STATE_LENGTHS: ReadonlySet<string> = new Set(["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "wav", "flac"]);

/** Distance before the planned end from which packets are read at first. */
const LOOK_BACK_MS = 10_000;

/** ffmpeg's MPEG-TS files start at twice its `max_delay` of 0.7 s (mpegtsenc.c). */
const TS_START_MS = 1400;

type MadeTracks = { readonly path: string; readonly probe: MediaProbe };

/**
 * Throws AppError `encoding_failed` when a track ends before its planned end. The end counts, not the duration: a track
 * may start late, as in the source.
 */
async function checkTrackEnds(
  planned: readonly PlannedTrack[],
  { path, probe }: MadeTracks,
  { ffprobe, signal }: ProbeDeps,
): Promise<void> {
  const doubtful = planned.filter((track) => !isLongEnough(track, statedEndMs(streamOf(track, probe), probe)));
  if (doubtful.length === 0) return;
  const originMs = probe.format.format_name === "mpegts" ? TS_START_MS : 0;
  const least = Math.min(...doubtful.map(({ endMs }) => (endMs ?? 0) - toleranceMs(endMs ?? 0)));
  const isLong = least > 2 * LOOK_BACK_MS;
  const tail = await packetEndsMs(ffprobe, path, isLong ? { fromMs: originMs + least - LOOK_BACK_MS } : {}, signal);
  const isComplete = !isLong || doubtful.every((track) => tail.has(streamOf(track, probe)?.index ?? -1));
  const ends = isComplete ? tail : await packetEndsMs(ffprobe, path, {}, signal);
  for (const track of doubtful) checkEnd(track, (ends.get(streamOf(track, probe)?.index ?? -1) ?? 0) - originMs);
}

const streamOf = ({ kind, at = 0 }: PlannedTrack, { streams }: MediaProbe): ProbedStream | undefined =>
  streams.filter(({ codec_type }) => codec_type === kind)[at];

/** The end of a stream according to its own header, in ms; 0 if the file does not state it. */
function statedEndMs(stream: ProbedStream | undefined, { format }: MediaProbe): number {
  if (!stream || !STATE_LENGTHS.has(format.format_name ?? "")) return 0;
  return Number(stream.start_time ?? 0) * 1000 + (ownLengthMs(stream) ?? 0);
}
