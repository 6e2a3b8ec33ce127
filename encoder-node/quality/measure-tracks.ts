// Measures the video tracks of an output, a few at a time.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { RunInputs } from "#shared/plan/plan-run.ts";
import { measuredTracks } from "#shared/plan/quality/renditions.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import type { Result } from "#shared/result.ts";
import type { TaskTrace } from "../tracing/task-trace.ts";
import { type MadeVideo, wholeVideo } from "./made-video.ts";
import { type MeasureDeps, type MeasuredVideo, type MeasureRequest, measureQualities } from "./measure.ts";
import type { TrackQuality } from "./quality-report.ts";

/** Frames of each second that are measured: docs/quality.md has what fewer or more change. */
export const SAMPLES_PER_SECOND = 4;

export type TracksToMeasure = RunInputs & {
  readonly probe: MediaProbe;
  readonly spec: OutputSpec;
  readonly videos: readonly MadeVideo[];
  /** The chunk that the files have; left out: all of the output. */
  readonly chunk?: ChunkSpan;
};

export type MeasureTracksDeps = MeasureDeps & { readonly trace: TaskTrace };

/**
 * Videos that are measured in one run, which decodes the source once. Of 1080p, each needs some 150 MB more, and more
 * than three save little more.
 */
const MOST_AT_ONCE = 3;

type Wanted = { readonly track: string; readonly request: MeasureRequest };

/** Tracks that cannot be measured are reported with the reason. Throws only when the signal aborts. */
export async function measureTracks(
  { spec, videos, ...work }: TracksToMeasure,
  deps: MeasureTracksDeps,
): Promise<TrackQuality[]> {
  const qualities: TrackQuality[] = [];
  const wanted: Wanted[] = [];
  for (const { track, ...rendition } of measuredTracks(spec, chooseTracks(work.probe), deps.capabilities)) {
    const video = videos.find((one) => one.track === track);
    if (!video) continue;
    const made = await wholeVideo(video, deps.folder).catch((error: unknown) => notMeasured(error, deps));
    if (made === null) qualities.push(qualityOf(track, null));
    else wanted.push({ track, request: { ...work, ...rendition, made, perSecond: SAMPLES_PER_SECOND } });
  }
  for (let at = 0; at < wanted.length; at += MOST_AT_ONCE) {
    const end = deps.trace.begin("measure", { "copra.output": spec.index });
    const measured = await measureTogether(wanted.slice(at, at + MOST_AT_ONCE), deps);
    end(measured.some((quality) => "failure" in quality) ? "encoding_failed" : null);
    qualities.push(...measured);
  }
  return qualities;
}

/** If a run with several videos fails, each is measured alone, so that one that is broken does not hide the others. */
async function measureTogether(wanted: readonly Wanted[], deps: MeasureDeps): Promise<TrackQuality[]> {
  const requests = wanted.map(({ request }) => request);
  const result = await measureQualities(requests, deps).catch((error: unknown) => notMeasured(error, deps));
  if (result?.ok) return wanted.map(({ track }, at) => qualityOf(track, result.value[at] ?? null));
  if (wanted.length === 1) return wanted.map(({ track }) => qualityOf(track, result));
  const alone: TrackQuality[] = [];
  for (const one of wanted) alone.push(...(await measureTogether([one], deps)));
  return alone;
}

function notMeasured(error: unknown, { signal, log }: MeasureDeps): null {
  signal.throwIfAborted();
  log.warn("Quality not measured", { error: messageOf(error) });
  return null;
}

function qualityOf(track: string, result: Result<MeasuredVideo> | null): TrackQuality {
  if (!result) return { track, failure: "The quality could not be measured" };
  if (!result.ok) return { track, failure: result.error.message };
  const { size: shown, model, every, samples, activeArea: size } = result.value;
  return { track, measured: { size, shown, model, every, samples } };
}
