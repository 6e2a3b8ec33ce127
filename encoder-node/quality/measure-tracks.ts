// Measures the video tracks of outputs, a few at a time.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import { isForLargeScreen, sourceStart } from "#shared/plan/quality/compare-video.ts";
import { measuredTracks } from "#shared/plan/quality/renditions.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { SourceTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import type { Result } from "#shared/result.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { TaskSource } from "../workspace/task-source.ts";
import { type MadeVideo, wholeVideo } from "./made-video.ts";
import { type MeasureDeps, type MeasuredVideo, type MeasureRequest, measureQualities } from "./measure.ts";
import type { TrackQuality } from "./quality-report.ts";

/** Measured frames of each second. docs/quality.md lists the effects of fewer or more frames. */
export const SAMPLES_PER_SECOND = 4;

export type OutputToMeasure = { readonly spec: OutputSpec; readonly videos: readonly MadeVideo[] };

/** The source, its workspace, and what the runs of the outputs read. */
export type TracksToMeasure = TaskSource &
  RunInputs &
  Pick<MeasureDeps, "burns"> & {
    /** Outputs of the same source. */
    readonly outputs: readonly OutputToMeasure[];
    /** The chunk that the files contain; left out: the whole outputs. */
    readonly chunk?: ChunkSpan;
  };

type Deps = Pick<TaskDeps, "ffmpeg" | "capabilities" | "log" | "signal" | "trace">;

/**
 * Videos that are measured in a single run, which decodes the source once. At 1080p, each video needs some 150 MB more,
 * and more than three videos save little more. At most one video of a run is shown on a screen of 2160p, which needs
 * four times as much.
 */
const MOST_AT_ONCE = 3;

/** A track, and its position among all tracks. */
type Wanted = {
  readonly at: number;
  readonly output: number;
  readonly track: string;
  readonly request: MeasureRequest;
};

export type OutputQuality = { readonly output: number; readonly tracks: readonly TrackQuality[] };

/**
 * Yields the tracks of each output, as soon as all of them are measured. Tracks of different outputs that start at the
 * same position of the source are measured together. A track that cannot be measured is reported with the reason.
 * Throws only when the signal aborts.
 */
export async function* measureTracks(
  { outputs, tracks: source, folder, network, burns, ...work }: TracksToMeasure,
  { trace, ...taskDeps }: Deps,
): AsyncGenerator<OutputQuality> {
  const deps = { ...taskDeps, folder, network, burns };
  const measured = new Map<number, (TrackQuality | null)[]>(outputs.map(({ spec }) => [spec.index, []]));
  const wanted: Wanted[] = [];
  for (const { spec, videos } of outputs) {
    const tracks = measured.get(spec.index) ?? [];
    for (const { track, ...rendition } of measuredTracks(spec, source, deps.capabilities)) {
      const video = videos.find((candidate) => candidate.track === track);
      if (!video) continue;
      const file = await wholeVideo(video, folder).catch((error: unknown) => notMeasured(error, deps));
      const request = file !== null && { ...work, ...rendition, made: file, perSecond: SAMPLES_PER_SECOND };
      if (request) wanted.push({ at: tracks.length, output: spec.index, track, request });
      tracks.push(file === null ? qualityOf(track, null) : null);
    }
  }
  yield* ended(measured);
  for (const batch of batches(wanted, source)) {
    const ends = [...new Set(batch.map(({ output }) => output))].map((output) =>
      trace.begin("measure", { "copra.output": output }),
    );
    const qualities = await measureTogether(batch, deps);
    for (const end of ends) end(qualities.some((quality) => "failure" in quality) ? "encoding_failed" : null);
    for (const [index, { at, output }] of batch.entries()) {
      const tracks = measured.get(output);
      if (tracks) tracks[at] = qualities[index] ?? null;
    }
    yield* ended(measured);
  }
}

/** Removes the outputs whose tracks are all measured from the map, and yields them. */
function* ended(measured: Map<number, (TrackQuality | null)[]>): Generator<OutputQuality> {
  for (const [output, tracks] of measured) {
    const known = tracks.filter((track) => track !== null);
    if (known.length < tracks.length) continue;
    measured.delete(output);
    yield { output, tracks: known };
  }
}

/** Tracks that are measured in a single run. */
type Batch = { readonly start: string; readonly wanted: Wanted[]; hasLarge: boolean };

/** Groups tracks that start at the same position of the source, in their order. */
function batches(wanted: readonly Wanted[], source: SourceTracks): Wanted[][] {
  const all: Batch[] = [];
  for (const item of wanted) {
    const start = sourceStart(item.request, source);
    const isLarge = isForLargeScreen(item.request, source);
    const open = all.find(
      (batch) => batch.start === start && batch.wanted.length < MOST_AT_ONCE && !(isLarge && batch.hasLarge),
    );
    const batch = open ?? { start, wanted: [], hasLarge: false };
    if (!open) all.push(batch);
    batch.wanted.push(item);
    batch.hasLarge ||= isLarge;
  }
  return all.map((batch) => batch.wanted);
}

/**
 * If a run with several videos fails, each video is measured alone, so that a broken video does not hide the others.
 */
async function measureTogether(wanted: readonly Wanted[], deps: MeasureDeps): Promise<TrackQuality[]> {
  const requests = wanted.map(({ request }) => request);
  const result = await measureQualities(requests, deps).catch((error: unknown) => notMeasured(error, deps));
  if (result?.ok) return wanted.map(({ track }, at) => qualityOf(track, result.value[at] ?? null));
  if (wanted.length === 1) return wanted.map(({ track }) => qualityOf(track, result));
  const alone: TrackQuality[] = [];
  for (const item of wanted) alone.push(...(await measureTogether([item], deps)));
  return alone;
}

function notMeasured(error: unknown, { signal, log }: MeasureDeps): null {
  signal.throwIfAborted();
  log.warn("quality not measured", { error: messageOf(error) });
  return null;
}

function qualityOf(track: string, result: Result<MeasuredVideo> | null): TrackQuality {
  if (!result) return { track, failure: "The quality could not be measured" };
  if (!result.ok) return { track, failure: result.error.message };
  const { size: shown, model, every, samples, activeArea: size } = result.value;
  return { track, measured: { size, shown, model, every, samples } };
}
