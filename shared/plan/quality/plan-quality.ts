// Plans the run of ffmpeg that compares an encoded video with what its encoder got, both as a player shows them.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { err, ok, type Result } from "../../result.ts";
import { slotRate } from "../chunks/frame-slots.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { branchGraph, overlayUrls } from "../command/filter-graph.ts";
import { chainText } from "../command/filter-text.ts";
import { openingArguments, seconds } from "../command/opening-arguments.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { filterFailure, VMAF_NEED } from "../filters/filter-needs.ts";
import type { FittedFrame, Ratio } from "../filters/fit-frame.ts";
import { fitGeometry, scaleTo } from "../filters/frame-geometry.ts";
import { planViewFilters } from "../filters/video-filters.ts";
import { chunkSourceOptions } from "../plan-chunk.ts";
import { networkOf, overlayInputs, type RunInputs, sourceInput } from "../plan-run.ts";
import { type EncoderInput, encoderInput } from "../plan-video-track.ts";
import type { Size } from "../source/frame-size.ts";
import { sourceFailure } from "../source/source-failures.ts";
import { chooseTracks, type SourceTracks, type VideoTrack } from "../source/source-tracks.ts";
import { NO_TRIM, type Trim, trimOf } from "../source/trim.ts";
import { sampledFrames } from "./sampled-frames.ts";
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

export type QualityPlan = {
  readonly run: PlannedRun;
  readonly viewing: Viewing;
  /** The part of the encoded frames that is not padding. */
  readonly activeArea: Size;
  /** One of this many frames is measured. */
  readonly every: number;
  /** Frames per second of the encoded video. */
  readonly fps: number;
};

/**
 * Plans the measurement of an encoded video.
 *
 * The reference is the source with the filters that its encoder got (trims, rates, deinterlacing, rotation, crops, tone
 * mapping, watermarks), but scaled to the size at which it is shown instead of the output's. The padding of the output
 * is cropped. Frames are paired by their times, since the first frame of each. Fails as the encode does, and if the
 * node's ffmpeg lacks libvmaf.
 */
export function planQuality(request: QualityRequest): Result<QualityPlan> {
  const source = chooseTracks(request.probe);
  const { video: track } = source;
  if (!track) return err(sourceFailure("input_has_no_video"));
  const lacking = filterFailure([VMAF_NEED], request.capabilities);
  if (lacking) return err(lacking);
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
  const branch = { label: "source", filters: reference };
  const urls = overlayUrls([branch]);
  const graph = [
    branchGraph(`[0:${track.streamIndex}]`, branch, new Map(urls.map((url, at) => [url, at + 2]))),
    `[source]${timesTo(REFERENCE_TIMES)}[reference]`,
    `[1:v:0]${chainText(made)},${timesTo(MADE_TIMES)}[made]`,
    `[made][reference]${libvmaf(viewing, sampled.subsample, request.threads)}[measured]`,
  ];
  const inputs = [
    sourceInput(request, source, sourceOptions(request, source, trim)),
    { path: request.made },
    ...overlayInputs(urls, request),
  ];
  const run: PlannedRun = {
    argv: checkedArguments([
      ...openingArguments(inputs),
      ...["-filter_complex", graph.join(";"), "-map", "[measured]", "-fps_mode", "passthrough", "-f", "null", "-"],
    ]),
    network: networkOf(request),
    inHardware: false,
    expectedFrames: null,
    durationMs: lengthMs(request, track),
  };
  return ok({ run, viewing, activeArea: fitted.activeArea, every: sampled.every, fps: input.timing.fps });
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

const sourceOptions = (request: QualityRequest, source: SourceTracks, { seekMs }: Trim): string[] => {
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

function libvmaf({ model }: Viewing, subsample: number, threads: number): string {
  return [
    `libvmaf=model=version=${model}`,
    "feature='name=psnr|name=float_ssim'",
    `log_fmt=json:log_path=${QUALITY_LOG}`,
    `n_subsample=${subsample}:n_threads=${threads}`,
    "ts_sync_mode=nearest",
  ].join(":");
}

const lengthMs = ({ chunk }: QualityRequest, { durationMs }: VideoTrack): number | null =>
  chunk?.from && chunk.to ? Math.max(0, chunk.to.frameUs - chunk.from.frameUs) / 1000 : durationMs;
