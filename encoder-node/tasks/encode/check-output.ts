// Whether what ffmpeg left behind is what was planned: its exit status alone proves nothing.
import { join } from "node:path";
import { AppError, type Failure } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { microseconds } from "#shared/media/timeline-start.ts";
import type { PlannedOutput, TrackKind } from "#shared/plan/command/output-plan.ts";
import { toleranceMs } from "#shared/plan/source/output-length.ts";
import { lineStartUs } from "#shared/plan/source/pts-origin.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { TaskOf } from "#shared/protocol/protocol.ts";
import type { Publication } from "../../publish/publication.ts";
import { lastPacketEndMs } from "../../source/probe/probe-end.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { isLongEnough, type MadeFile, madeFile, missingTrack, probeResult, tooShort } from "../../upload/made-file.ts";

export type MadeOutput = {
  output: number;
  files: MadeFile[];
  probe: MediaProbe | null;
  /** By ffmpeg's name; left out for images. */
  encoder?: string;
  /** What its owner should know of how it was made, in one sentence. */
  note?: string;
  /** Of a stream, whose files are on their way already; `files` are none then. */
  publication?: Publication;
};

export type FailedOutput = { output: number; failure: Failure };

/** How much of a source is read at first to see that it goes on. */
const LOOK_AHEAD_MS = 2000;

/** What the outputs were made of. */
export type Origin = { readonly task: Pick<TaskOf<"encode">, "probe" | "outputs">; readonly source: string };

/** The files of an output, or the tracks of a stream, looked at; or why they are not what was planned. */
export async function checkOutput(
  planned: PlannedOutput,
  { task, source }: Origin,
  folder: string,
  publication: Publication | undefined,
  deps: TaskDeps,
): Promise<MadeOutput | FailedOutput> {
  const { output } = planned;
  try {
    if (publication) {
      await publication.check();
      return { output, files: [], probe: null, publication };
    }
    const files = await Promise.all(planned.files.map((name) => madeFile(join(folder, name))));
    const isImage = task.outputs.some(({ index, type }) => index === output && type === "image");
    if (isImage) {
      await checkSource(planned.shownUntilMs ?? null, source, task.probe, deps);
      return { output, files, probe: null };
    }
    const [first] = files;
    if (!first) throw new AppError("encoding_failed", "The encoder made no file");
    const probe = await probeResult(first.path, deps);
    checkTracks(planned.holds, probe);
    await checkEnd(planned.expectedDurationMs, probe, first.path, deps);
    return { output, files, probe };
  } catch (error) {
    deps.signal.throwIfAborted();
    const message = error instanceof AppError ? error.message : "The encoder made no usable file";
    return { output, failure: { code: "encoding_failed", message } };
  }
}

function checkTracks(holds: readonly TrackKind[], { streams }: MediaProbe): void {
  const missing = holds.find(
    (kind) => !streams.some(({ codec_type, nb_frames }) => codec_type === kind && nb_frames !== "0"),
  );
  if (missing) throw missingTrack(missing);
}

/**
 * Pictures from beyond the end of a source that is cut short would all be its last one. So it must really have packets of
 * its picture as far as it was shown, to within the tolerance.
 */
async function checkSource(
  untilMs: number | null,
  source: string,
  probe: MediaProbe,
  { ffprobe, signal }: TaskDeps,
): Promise<void> {
  const track = chooseTracks(probe).video;
  // Packets that were read at inspection are there.
  if (untilMs === null || !track || track.lengthFrom === "packets") return;
  const { streamIndex } = track;
  const startUs = (microseconds(probe.format.start_time) ?? 0) + lineStartUs(probe);
  const neededMs = untilMs - toleranceMs(untilMs) + startUs / 1000;
  // A frame that is shown for long has its successor far off, and some formats say nothing of its length.
  for (const range of [{ fromMs: neededMs, toMs: neededMs + LOOK_AHEAD_MS }, { fromMs: neededMs }]) {
    const endMs = await lastPacketEndMs(ffprobe, source, { ...range, streamIndex }, signal);
    if (endMs !== null && endMs >= neededMs) return;
  }
  throw new AppError(
    "encoding_failed",
    `The input's picture ends before ${(untilMs / 1000).toFixed(2)} s, where one was to be taken; it may be damaged or cut short`,
  );
}

/**
 * Only a result that is too short has failed. The end counts, not the length: a track alone in its file may begin late,
 * as it did in the source.
 */
async function checkEnd(
  expectedMs: number | null,
  { format }: MediaProbe,
  path: string,
  { ffprobe, signal }: TaskDeps,
): Promise<void> {
  const endMs = (Number(format.start_time ?? 0) + Number(format.duration)) * 1000;
  if (expectedMs === null || !Number.isFinite(endMs) || isLongEnough(endMs, expectedMs)) return;
  const lastMs = (await lastPacketEndMs(ffprobe, path, { fromMs: endMs }, signal)) ?? endMs;
  if (!isLongEnough(lastMs, expectedMs)) throw tooShort(lastMs, expectedMs);
}
