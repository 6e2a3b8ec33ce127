// How an encoded video is compared with what its encoder got: the filters of both, and what is written.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { ok, type Result } from "../../result.ts";
import { slotRate } from "../chunks/frame-slots.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import { chainText, quoted } from "../command/filter-text.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import type { FittedFrame, Ratio } from "../filters/fit-frame.ts";
import { fitGeometry, scaleTo } from "../filters/frame-geometry.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { planViewFilters } from "../filters/video-filters.ts";
import { type EncoderInput, encoderInput } from "../outputs/plan-video-track.ts";
import type { RunInputs } from "../runs/plan-run.ts";
import type { Size } from "../source/frame-size.ts";
import type { SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { NO_TRIM, type Trim, trimOf } from "../source/trim.ts";
import { chunkSourceOptions } from "../tasks/plan-chunk.ts";
import { preparedSize, type Viewing, viewingOf } from "./viewing.ts";

/** An encoded video track: the video of a file, or a rendition of a stream as a file of its own (`asFile`). */
export type Rendition = {
  readonly output: VideoOutput;
  /** The output's video, which is not a copy. */
  readonly video: EncodedVideo;
  /** As it was planned: set for streams only. */
  readonly gridSeconds?: number;
};

export type QualityRequest = RunInputs &
  Rendition & {
    readonly probe: MediaProbe;
    /** Those with which it was encoded: they determine deinterlacer and pixel format. */
    readonly capabilities: FfmpegCapabilities;
    /** The absolute path of the encoded file. */
    readonly made: string;
    /** The chunk that the file has; left out: all that the output shows of the source. */
    readonly chunk?: ChunkSpan;
    /** How long before the chunk decoding begins; left out: as long as the source needs. */
    readonly prerollMs?: number;
    /** How many frames of each second are measured, about; null: all. */
    readonly perSecond: number | null;
    readonly threads: number;
  };

/** The names of the files that the run writes. */
export const QUALITY_LOG = "quality.json";
export const MADE_TIMES = "made.txt";
export const REFERENCE_TIMES = "reference.txt";
/** Those of one of several videos that a run measures: the first one has the names above. */
export const qualityFile = (name: string, at: number): string => (at === 0 ? name : `${at}-${name}`);

/** How a video is measured. */
export type QualityView = {
  readonly viewing: Viewing;
  /** The part of the encoded frames that is not padding. */
  readonly activeArea: Size;
  /** One of this many frames is measured. */
  readonly every: number;
  /** Frames per second of the encoded video. */
  readonly fps: number;
};

/** How an encoded video is compared with its source. */
export type Compared = {
  readonly view: QualityView;
  readonly sourceOptions: readonly string[];
  /** The filters of the source, and of the encoded video. */
  readonly reference: readonly Filter[];
  readonly made: readonly string[];
  readonly subsample: number;
};

/** Plans how an encoded video is compared. Fails as its encode does. */
export function planCompared(request: QualityRequest, source: SourceTracks, track: VideoTrack): Result<Compared> {
  const trim = request.chunk ? NO_TRIM : trimOf(request.output, source);
  const input = inputOf(request, track, trim);
  const geometry = { ...request.output, size: input.video.size };
  const fitted = fitGeometry(geometry, track, input.target.step);
  const viewing = viewingOf(fitted.activeArea);
  const prepared = planViewFilters(
    geometry,
    track,
    input.target,
    preparedSize(shownOf(track, request, fitted), viewing),
  );
  if (!prepared.ok) return prepared;
  const sampled = sampledFrames(input.timing, request.perSecond);
  const end = [scaleTo(viewing.size), ...measuredFormat(input.target.pixelFormat)];
  const reference = [...input.filters, ...trimFilter(trim), ...sampled.filters, ...prepared.value.filters, ...end];
  const made = [...sampled.filters, ...paddingCrop(fitted), ...end];
  const view = { viewing, activeArea: fitted.activeArea, every: sampled.every, fps: input.timing.fps };
  const options = sourceOptions(request, source, trim);
  return ok({ view, sourceOptions: options, reference, made, subsample: sampled.subsample });
}

/** True if a video is shown on a screen of 3840×2160 when it is measured. */
export function isForLargeScreen({ output, video }: Rendition, { video: track }: SourceTracks): boolean {
  if (!track) return false;
  const { activeArea } = fitGeometry({ ...output, size: video.size }, track, 2);
  return viewingOf(activeArea).model === "vmaf_4k_v0.6.1";
}

/** The graph that compares the encoded video of input `at` + 1 with the end of the source's branch. */
export function comparison({ view, made, subsample }: Compared, at: number, threads: number): string[] {
  return [
    `[source${at}]${timesTo(qualityFile(REFERENCE_TIMES, at))}[reference${at}]`,
    `[${at + 1}:v:0]${chainText(made)},${timesTo(qualityFile(MADE_TIMES, at))}[made${at}]`,
    `[made${at}][reference${at}]${libvmaf(view.viewing, subsample, threads, at)}[measured${at}]`,
  ];
}

/** The part of the source that is shown, turned, in square pixels. */
function shownOf({ facts }: VideoTrack, { output }: QualityRequest, { crop }: FittedFrame): Size {
  const { displayWidth, displayHeight } = facts;
  const [width, height] = output.transpose === null ? [displayWidth, displayHeight] : [displayHeight, displayWidth];
  const share = ([numerator, denominator]: Ratio): number => numerator / denominator;
  return crop ? { width: width * share(crop.width), height: height * share(crop.height) } : { width, height };
}

const paddingCrop = ({ activeArea, pad }: FittedFrame): string[] =>
  pad ? [`crop=${activeArea.width}:${activeArea.height}:${pad.x}:${pad.y}`] : [];

function inputOf({ output, video, probe, ...request }: QualityRequest, track: VideoTrack, trim: Trim): EncoderInput {
  const { capabilities, chunk, gridSeconds } = request;
  const span = chunk ? { span: chunk, slotFps: slotRate(probe), passLog: "" } : null;
  return encoderInput({ output, video, track, trim, capabilities, span, ...(gridSeconds ? { gridSeconds } : {}) });
}

/** Where decoding of the source begins for a video: videos with the same text can be measured in one run. */
export const sourceStart = (
  request: Pick<QualityRequest, "output" | "probe" | "chunk" | "prerollMs">,
  source: SourceTracks,
): string => sourceOptions(request, source, trimOf(request.output, source)).join(" ");

const sourceOptions = (
  request: Pick<QualityRequest, "probe" | "chunk" | "prerollMs">,
  source: SourceTracks,
  { seekMs }: Trim,
): string[] => {
  const { chunk } = request;
  if (chunk) return chunkSourceOptions({ ...request, chunk }, source);
  return seekMs === 0 ? [] : ["-ss", seconds(seekMs)];
};

/** What `trimArguments` does to an output. */
function trimFilter({ seekMs, startMs, endMs }: Trim): string[] {
  const start = startMs === 0 ? [] : [`start=${seconds(startMs - seekMs)}`];
  const duration = endMs === null ? [] : [`duration=${seconds(endMs - startMs)}`];
  return start.length + duration.length === 0 ? [] : [`trim=${[...start, ...duration].join(":")}`];
}

/** Planar 4:2:0 of limited range, which libvmaf takes: VMAF sees luma only. */
const measuredFormat = (encoded: string): string[] => [
  ...(encoded.startsWith("yuvj") ? ["scale=out_range=tv"] : []),
  /1[02]le$/.test(encoded) ? "format=yuv420p10le" : "format=yuv420p",
];

/** Writes the time of each frame to a file: the filter prints frames that have metadata. */
const timesTo = (file: string): string => `metadata=mode=add:key=at:value=1,metadata=mode=print:file=${file}`;

function libvmaf({ model }: Viewing, subsample: number, threads: number, at: number): string {
  return [
    `libvmaf=model=version=${model}`,
    "feature='name=psnr|name=float_ssim'",
    `log_fmt=json:log_path=${qualityFile(QUALITY_LOG, at)}`,
    `n_subsample=${subsample}:n_threads=${threads}`,
    "ts_sync_mode=nearest",
  ].join(":");
}

/** Which frames are measured. */
type SampledFrames = {
  /** Filters that keep the frames that are measured and the ones before them. Times begin at 0. */
  readonly filters: readonly string[];
  /** libvmaf measures one of this many frames that it gets. */
  readonly subsample: number;
  /** One of this many frames of the video is measured. */
  readonly every: number;
};

/** From here on it saves time to drop the frames in between before they are scaled. */
const MIN_DROPPING = 3;

/**
 * Samples about `perSecond` frames of each second; null: all frames.
 *
 * VMAF compares a frame with its neighbors in time, and takes the smaller difference. So the frame before each sample
 * is kept, too, and the others are dropped. Frames are numbered by their time, so that the same ones are chosen of
 * source and result even if one of them lacks a frame. That needs a constant rate: times that differ by a rounding
 * error could otherwise be on both sides of a limit.
 */
export function sampledFrames(timing: FrameTiming, perSecond: number | null): SampledFrames {
  const every = perSecond === null ? 1 : Math.max(1, Math.round(timing.fps / perSecond));
  const fromZero = "setpts=PTS-STARTPTS";
  if (timing.isVariable || every < MIN_DROPPING) return { filters: [fromZero], subsample: every, every };
  const kept = `lte(mod(round(t*${timing.fps})+1,${every}),1)`;
  return { filters: [fromZero, `select=${quoted(kept)}`], subsample: 2, every };
}
