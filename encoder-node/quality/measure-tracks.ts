// Measures the video tracks of an output, one after the other.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { RunInputs } from "#shared/plan/plan-run.ts";
import { measuredTracks } from "#shared/plan/quality/renditions.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import type { TaskTrace } from "../tracing/task-trace.ts";
import { type MadeVideo, wholeVideo } from "./made-video.ts";
import { type MeasureDeps, measureQuality } from "./measure.ts";
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

/** Tracks that cannot be measured are reported with the reason. Throws only when the signal aborts. */
export async function measureTracks(
  { spec, videos, ...work }: TracksToMeasure,
  deps: MeasureTracksDeps,
): Promise<TrackQuality[]> {
  const qualities: TrackQuality[] = [];
  for (const { track, ...rendition } of measuredTracks(spec, chooseTracks(work.probe), deps.capabilities)) {
    const video = videos.find((made) => made.track === track);
    if (!video) continue;
    const end = deps.trace.begin("measure", { "copra.output": spec.index });
    const quality = await measured({ track, video, request: { ...work, ...rendition } }, deps);
    end("failure" in quality ? "encoding_failed" : null);
    qualities.push(quality);
  }
  return qualities;
}

type Wanted = {
  readonly track: string;
  readonly video: MadeVideo;
  readonly request: Omit<Parameters<typeof measureQuality>[0], "made" | "perSecond">;
};

async function measured({ track, video, request }: Wanted, deps: MeasureDeps): Promise<TrackQuality> {
  try {
    const made = await wholeVideo(video, deps.folder);
    const result = await measureQuality({ ...request, made, perSecond: SAMPLES_PER_SECOND }, deps);
    if (!result.ok) return { track, failure: result.error.message };
    const { size: shown, model, every, samples, activeArea: size } = result.value;
    return { track, measured: { size, shown, model, every, samples } };
  } catch (error) {
    deps.signal.throwIfAborted();
    deps.log.warn("Quality not measured", { error: messageOf(error) });
    return { track, failure: "The quality could not be measured" };
  }
}
