// Checks that what ffmpeg made is what was planned: its exit status alone proves nothing.
import { join } from "node:path";
import { AppError, type Failure } from "#shared/errors.ts";
import type { DroppedVideo } from "#shared/job/dropped-video.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { microseconds } from "#shared/media/timeline-start.ts";
import type { PlannedOutput } from "#shared/plan/output-plan.ts";
import { type PlannedTrack, toleranceMs } from "#shared/plan/source/output-length.ts";
import { ptsOriginUs } from "#shared/plan/source/pts-origin.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { QualityReport } from "#shared/protocol/quality.ts";
import type { TargetReport } from "#shared/protocol/target.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { Publication } from "../../publish/publication.ts";
import type { Publications } from "../../publish/publisher.ts";
import { type MadeVideo, madeVideos } from "../../quality/made-video.ts";
import { probeImage } from "../../source/probe/probe.ts";
import { packetEndsMs } from "../../source/probe/probe-end.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import type { EarlyUpload } from "../../upload/early-upload.ts";
import { type MadeFile, madeFile, missingTrack, probeResult, uploadable } from "../../upload/made-file.ts";
import { checkTrackEnds } from "./track-ends.ts";

export type MadeOutput = {
  output: number;
  files: MadeFile[];
  probe: MediaProbe | null;
  /** ffmpeg's name of it; absent for images. */
  encoder?: string;
  /** What the client should know about how it was made, in one sentence. */
  note?: string;
  /** How the rate factors for requested VMAFs were found; absent without any. */
  targets?: TargetReport[];
  /** Of a stream: the videos that were left out. */
  dropped?: DroppedVideo[];
  /** Its encoded video tracks. */
  videos?: MadeVideo[];
  /** How good its video is; absent if that is not measured. */
  quality?: Promise<QualityReport>;
  /** For a stream, whose files are being uploaded already; `files` is empty then. */
  publication?: Publication;
};

export type FailedOutput = { output: number; failure: Failure };

/** How much of a source is read at first to see that it continues. */
const LOOK_AHEAD_MS = 2000;

/** What one run of ffmpeg made, and of which source. */
export type RunResult = {
  readonly task: Pick<TaskOf<"encode">, "probe" | "outputs">;
  /** The path of the source; empty where nothing was encoded. */
  readonly source: string;
  /** The folder with the files. */
  readonly folder: string;
  readonly publications: Publications;
  /** The files that were uploaded while they were written, by output; left out: none. */
  readonly uploads?: ReadonlyMap<number, EarlyUpload>;
};

/** Checks the files of an output, or the tracks of a stream. Returns a failure when they are not as planned. */
export async function checkOutput(
  planned: PlannedOutput,
  { task, source, folder, publications, uploads }: RunResult,
  deps: TaskDeps,
): Promise<MadeOutput | FailedOutput> {
  const { output, growing } = planned;
  const early = uploads?.get(output);
  early?.halt();
  const publication = publications.get(output);
  try {
    if (publication) {
      await publication.check();
      const made = { output, files: [], probe: null, publication, videos: madeVideos(planned, folder) };
      return { ...made, ...droppedIn(task.outputs.find(({ index }) => index === output)) };
    }
    const files = await Promise.all(planned.files.map((name) => madeFile(join(folder, name))));
    const [first] = files;
    const isImage = task.outputs.some(({ index, type }) => index === output && type === "image");
    if (isImage) {
      await checkSource(planned.sourceNeededUntilMs ?? null, source, task.probe, deps);
      const probe = first ? await probeImage(deps.ffprobe, first.path, deps.signal) : null;
      return { output, files, probe };
    }
    if (!first) throw new AppError("encoding_failed", "The encoder made no file");
    const probe = await probeResult(first.path, deps);
    checkTracks(planned.tracks, probe);
    await checkTrackEnds(planned.tracks, { path: first.path, probe }, deps);
    const videos = madeVideos(planned, folder);
    if (!growing) return { output, files, probe, videos };
    const file = await uploadable(first, growing.indexAtEnd, early);
    return { output, files: [file], probe: ofSize(probe, file.sizeBytes), videos };
  } catch (error) {
    await early?.stop();
    deps.signal.throwIfAborted();
    const message = error instanceof AppError ? error.message : "The encoder made no usable file";
    return { output, failure: { code: "encoding_failed", message } };
  }
}

const droppedIn = (spec: OutputSpec | undefined): Pick<MadeOutput, "dropped"> =>
  spec?.type === "httpstream" && spec.dropped ? { dropped: spec.dropped } : {};

/** What ffprobe reports of the same file with another size: an index that comes first may leave some bytes free. */
function ofSize(probe: MediaProbe, sizeBytes: number): MediaProbe {
  const { format } = probe;
  const seconds = Number(format.duration);
  if (format.size === String(sizeBytes) || !(seconds > 0)) return probe;
  const bitRate = String(Math.round((sizeBytes * 8) / seconds));
  return { ...probe, format: { ...format, size: String(sizeBytes), bit_rate: bitRate } };
}

function checkTracks(planned: readonly PlannedTrack[], { streams }: MediaProbe): void {
  const missing = planned.find(
    ({ kind }) => !streams.some(({ codec_type, nb_frames }) => codec_type === kind && nb_frames !== "0"),
  );
  if (missing) throw missingTrack(missing.kind);
}

/**
 * Images after the end of a truncated source would all show its last frame. So the source must have video packets up to
 * the timestamp of the last image, within the tolerance.
 */
async function checkSource(
  untilMs: number | null,
  source: string,
  probe: MediaProbe,
  { ffprobe, signal }: TaskDeps,
): Promise<void> {
  const track = chooseTracks(probe).video;
  // The packets were read at inspection.
  if (untilMs === null || !track || track.lengthFrom === "packets") return;
  const { streamIndex } = track;
  const startUs = (microseconds(probe.format.start_time) ?? 0) + ptsOriginUs(probe);
  const neededMs = untilMs - toleranceMs(untilMs) + startUs / 1000;
  // The frame after one with a long duration is far away, and some formats do not store durations.
  for (const range of [{ fromMs: neededMs, toMs: neededMs + LOOK_AHEAD_MS }, { fromMs: neededMs }]) {
    const endMs = (await packetEndsMs(ffprobe, source, range, signal)).get(streamIndex);
    if (endMs !== undefined && endMs >= neededMs) return;
  }
  const ends = `The input's video ends before ${(untilMs / 1000).toFixed(2)} s, the timestamp of an image`;
  throw new AppError("encoding_failed", `${ends}; it may be damaged or truncated`);
}
