// Plans the runs of ffmpeg that try a rate factor. The runs keep samples of the source as the encoder gets them, encode
// the samples, and compare the result with the samples.
import type { VideoOutput } from "../../job/output-spec.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { openingArguments, type PlannedInput, seconds } from "../command/opening-arguments.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import { hasRateFactor, type RateFactorEncoder } from "../encoders/rate-factors.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { type PlannedVideoTrack, planVideoTrack } from "../outputs/plan-video-track.ts";
import { QUALITY_LOG } from "../quality/compare-video.ts";
import { type Viewing, viewingOf } from "../quality/viewing.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import { sourceFailure } from "../source/source-failures.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import { NO_TRIM } from "../source/trim.ts";
import type { SampleWindow } from "./sample-windows.ts";

/** A video track whose rate factor is searched. */
export type SearchedVideo = {
  readonly output: VideoOutput;
  /** The output's video, with a VMAF as its rate. */
  readonly video: EncodedVideo;
  /** Set for renditions of streams. */
  readonly gridSeconds?: number;
};

export type PlannedSearch = SearchedVideo & {
  readonly encoder: RateFactorEncoder;
  readonly planned: PlannedVideoTrack;
  /** Prefix of its file names. */
  readonly name: string;
};

/** Plans a video for a search. Fails if its encode fails. */
export function planSearch(
  searched: SearchedVideo,
  name: string,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
): Result<PlannedSearch> {
  const planned = planSampled(searched, source, capabilities);
  if (!planned.ok) return planned;
  const { encoder } = planned.value;
  if (!hasRateFactor(encoder)) throw new Error(`${encoder} has no rate factor`);
  return ok({ ...searched, encoder, planned: planned.value, name });
}

/**
 * Samples are from the middle of a video, not from its end. They have no captions and overlays, because they have new
 * times.
 */
function planSampled(
  searched: SearchedVideo,
  { video: track }: SourceTracks,
  capabilities: FfmpegCapabilities,
): Result<PlannedVideoTrack> {
  if (!track) return err(sourceFailure("input_has_no_video"));
  const inside = { ...track, lastFrame: null, startsWithOldFrames: false };
  const { burn: _, overlays: _overlays, ...output } = searched.output;
  return planVideoTrack({ ...searched, output, track: inside, trim: NO_TRIM, capabilities });
}

/** File name of a video's sample: the frames that its encoder gets, without loss. */
export const sampleFile = (name: string, sample: number): string => `${name}-sample-${sample}.mkv`;
const probeFile = (name: string): string => `${name}-probe.mkv`;

/**
 * Plans the run of a sample, which decodes the sample once for all videos. The run starts at the keyframe before the
 * window, if that is near enough, so that no frame is decoded in vain. If keyframes are rare, such frames cost as much
 * as an encode of the sample.
 */
export function planSample(
  searches: readonly PlannedSearch[],
  sample: number,
  { fromMs, lengthMs, earlierMs }: SampleWindow,
  { inputs, tracks }: { readonly inputs: RunInputs; readonly tracks: SourceTracks },
): PlannedRun {
  // `trim` counts the duration from the first frame that it lets through.
  const window = `trim=start=${seconds(-Math.min(earlierMs, fromMs))}:duration=${seconds(lengthMs)}`;
  const parts = searches.map(({ name, planned }): CommandPart => {
    const label = `${name}s`;
    const keep = ["-map", `[${label}]`, "-c:v", "ffvhuff", "-fps_mode", "passthrough"];
    return {
      branches: [{ label, filters: [window, "setpts=PTS-STARTPTS", ...planned.filters] }],
      argv: [...keep, "-f", "matroska", sampleFile(name, sample)],
      expectedFrames: null,
      endMs: lengthMs,
    };
  });
  const sourceOptions = fromMs > 0 ? ["-noaccurate_seek", "-ss", seconds(fromMs)] : [];
  return planRun({ inputs, tracks, parts, sourceOptions });
}

export type ProbePlan = {
  readonly encode: PlannedRun;
  readonly measure: PlannedRun;
  /** File with the encoded samples, in the folder of the runs. */
  readonly file: string;
  /** Viewing conditions for the comparison. */
  readonly viewing: Viewing;
};

/** Number of measured frames per second. VMAF costs as much as the encode if it sees all frames. */
const MEASURED_PER_SECOND = 10;

/**
 * Plans a try of a rate factor. The samples are concatenated and encoded as a single video, by the arguments of the
 * whole video. They are compared at the size of the output, because no bitrate restores the detail that the scaler
 * removed. Frames are paired by their numbers.
 */
export function planProbe(
  search: PlannedSearch,
  rateFactor: number,
  {
    folder,
    samples,
    threads,
    source,
    capabilities,
  }: {
    /** Path of the folder with the samples. */
    readonly folder: string;
    /** Numbers of the samples. */
    readonly samples: readonly number[];
    readonly threads: number;
    readonly source: SourceTracks;
    readonly capabilities: FfmpegCapabilities;
  },
): ProbePlan {
  const { name, video, planned } = search;
  if (!("vmaf" in video.rate)) throw new Error("No VMAF is requested");
  const tried = planSampled(
    { ...search, video: { ...video, rate: { ...video.rate, rateFactor } } },
    source,
    capabilities,
  );
  if (!tried.ok) throw new Error("A planned video cannot be planned again");
  const { timing, frame } = planned;
  const rate = timing.isVariable ? [] : ["-r", String(timing.fps)];
  const inputs = samples.map(
    (sample): PlannedInput => ({ path: `${folder}/${sampleFile(name, sample)}`, options: rate }),
  );
  const reel = (first: number): string =>
    `${samples.map((_, at) => `[${first + at}:v:0]`).join("")}concat=n=${samples.length}:v=1:a=0`;
  const file = probeFile(name);
  const viewing = viewingOf(frame);
  const every = Math.max(1, Math.round(timing.fps / MEASURED_PER_SECOND));
  const compared = "settb=1/1000,setpts=N*40,format=yuv420p";
  const graph = [
    `[0:v:0]${compared}[made]`,
    `${reel(1)},${compared}[reference]`,
    `[made][reference]libvmaf=model=version=${viewing.model}:log_fmt=json:log_path=${QUALITY_LOG}:n_subsample=${every}:n_threads=${threads}[measured]`,
  ];
  const common = { network: "none", inHardware: false, expectedFrames: null, durationMs: null } as const;
  return {
    encode: {
      ...common,
      argv: checkedArguments([
        ...openingArguments(inputs),
        ...["-filter_complex", `${reel(0)}[reel]`, "-map", "[reel]", ...tried.value.argv, "-f", "matroska", file],
      ]),
    },
    measure: {
      ...common,
      argv: checkedArguments([
        ...openingArguments([{ path: `${folder}/${file}`, options: rate }, ...inputs]),
        ...["-filter_complex", graph.join(";"), "-map", "[measured]", "-fps_mode", "passthrough", "-f", "null", "-"],
      ]),
    },
    file,
    viewing,
  };
}
