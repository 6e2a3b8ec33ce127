// Compares an encoded video with the input of its encoder: the filters of both, and the files of the comparison.
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
import { hasBackdrop } from "../filters/backdrop.ts";
import { burnVideo } from "../filters/burn-in.ts";
import type { FittedFrame, Ratio } from "../filters/fit-frame.ts";
import { fitGeometry, rotatedSize, scaleTo } from "../filters/frame-geometry.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { filtersTo } from "../filters/video-filters.ts";
import { type EncoderInput, encoderInput, overlaysOfVideo } from "../outputs/plan-video-track.ts";
import type { RunInputs } from "../runs/plan-run.ts";
import type { Size } from "../source/frame-size.ts";
import type { SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { type Trim, trimOf } from "../source/trim.ts";
import { chunkSourceOptions } from "../tasks/plan-chunk.ts";
import { preparedSize, type Viewing, viewingOf } from "./viewing.ts";

/** An encoded video track: the video of a file, or a rendition of a stream as a separate file (`asFile`). */
export type Rendition = {
  readonly output: VideoOutput;
  /** The output's video, which is not a copy. */
  readonly video: EncodedVideo;
  /** Set for streams only: the planned distance of keyframes. */
  readonly gridSeconds?: number;
};

export type QualityRequest = RunInputs &
  Rendition & {
    readonly probe: MediaProbe;
    /** Capabilities for the encode, which determine deinterlacer and pixel format. */
    readonly capabilities: FfmpegCapabilities;
    /** The absolute path of the encoded file. */
    readonly made: string;
    /** Chunk in the file; left out: everything that the output shows of the source. */
    readonly chunk?: ChunkSpan;
    /** Time between the start of decoding and the chunk; left out: as long as the source needs. */
    readonly prerollMs?: number;
    /** Approximate number of measured frames per second; null: all. */
    readonly perSecond: number | null;
    readonly threads: number;
  };

/** Names of the files that the run writes. */
export const QUALITY_LOG = "quality.json";
export const MADE_TIMES = "made.txt";
export const REFERENCE_TIMES = "reference.txt";
/**
 * File name of the video at position `at` in a run that measures several videos. The first video has the names above.
 */
export const qualityFile = (name: string, at: number): string => (at === 0 ? name : `${at}-${name}`);

/** Viewing conditions and frames of a measured video. */
export type QualityView = {
  readonly viewing: Viewing;
  /** Part of the encoded frames that is not padding. */
  readonly activeArea: Size;
  /** The run measures every nth frame. */
  readonly every: number;
  /** Frames per second of the encoded video. */
  readonly fps: number;
};

/** Plan of a comparison between an encoded video and its source. */
export type Compared = {
  readonly view: QualityView;
  readonly sourceOptions: readonly string[];
  /** Filters of the source, and of the encoded video. */
  readonly reference: readonly Filter[];
  readonly encoded: readonly string[];
  readonly subsample: number;
};

/** Plans the comparison of an encoded video. Fails if its encode fails. */
export function planCompared(request: QualityRequest, source: SourceTracks, track: VideoTrack): Result<Compared> {
  const trim = { ...trimOf(request.output, source), ...(request.chunk ? { seekMs: 0 } : {}) };
  const input = inputOf(request, track, trim);
  const geometry = { ...request.output, size: input.video.size };
  const fitted = fitGeometry(geometry, track, input.target.step);
  const viewed = viewedFrame(request.output, fitted);
  const viewing = viewingOf(viewed.frame);
  const drawn = overlaysOfVideo({ ...request, track, trim }, input.timing);
  if (!drawn.ok) return drawn;
  const prepared = filtersTo(
    resized(viewed, preparedSize(shownOf(rotatedSize(geometry, track), viewed), viewing)),
    { ...geometry, burnIn: burnVideo(request.output, trim.seekMs), drawn: drawn.value },
    track,
    input.target,
  );
  if (!prepared.ok) return prepared;
  const sampled = sampledFrames(input.timing, request.perSecond);
  const end = [scaleTo(viewing.size), ...measuredFormat(input.target.pixelFormat)];
  const reference = [
    ...input.filters,
    ...trimFilter(trim, request.chunk),
    ...sampled.filters,
    ...prepared.value.filters,
    ...end,
  ];
  const encoded = [...sampled.filters, ...(viewed === fitted ? [] : paddingCrop(fitted)), ...end];
  const view = { viewing, activeArea: viewed.frame, every: sampled.every, fps: input.timing.fps };
  const options = sourceOptions(request, source, trim);
  return ok({ view, sourceOptions: options, reference, encoded, subsample: sampled.subsample });
}

/** True if the measurement shows a video on a screen of 3840×2160. */
export function isForLargeScreen({ output, video }: Rendition, { video: track }: SourceTracks): boolean {
  if (!track) return false;
  const viewed = viewedFrame(output, fitGeometry({ ...output, size: video.size }, track, 2));
  return viewingOf(viewed.frame).model === "vmaf_4k_v0.6.1";
}

/** Graph that compares the encoded video of input `at` + 1 with the end of the source's branch. */
export function comparison({ view, encoded, subsample }: Compared, at: number, threads: number): string[] {
  return [
    `[source${at}]${timesTo(qualityFile(REFERENCE_TIMES, at))}[reference${at}]`,
    `[${at + 1}:v:0]${chainText(encoded)},${timesTo(qualityFile(MADE_TIMES, at))}[made${at}]`,
    `[made${at}][reference${at}]${libvmaf(view.viewing, subsample, threads, at)}[measured${at}]`,
  ];
}

/** The frame as it is compared: whole with a backdrop, otherwise the active area alone. */
const viewedFrame = (output: VideoOutput, fitted: FittedFrame): FittedFrame =>
  hasBackdrop(output, fitted) ? fitted : { ...fitted, frame: fitted.activeArea, pad: null };

/** The frame at another size. */
function resized(fitted: FittedFrame, frame: Size): FittedFrame {
  const { activeArea, pad } = fitted;
  if (!pad) return { ...fitted, frame, activeArea: frame };
  const scaled = (side: number, from: number, to: number): number => 2 * Math.round((side * to) / from / 2);
  const across = (side: number): number => scaled(side, fitted.frame.width, frame.width);
  const down = (side: number): number => scaled(side, fitted.frame.height, frame.height);
  const area = { width: across(activeArea.width), height: down(activeArea.height) };
  return { ...fitted, frame, activeArea: area, pad: { x: across(pad.x), y: down(pad.y) } };
}

/** The viewed frame in pixels of the source, which are square. `source`: its shown part, rotated. */
function shownOf({ width, height }: Size, { frame, activeArea, crop }: FittedFrame): Size {
  const share = ([numerator, denominator]: Ratio): number => numerator / denominator;
  const part = crop ? { width: width * share(crop.width), height: height * share(crop.height) } : { width, height };
  return {
    width: (part.width * frame.width) / activeArea.width,
    height: (part.height * frame.height) / activeArea.height,
  };
}

const paddingCrop = ({ activeArea, pad }: FittedFrame): string[] =>
  pad ? [`crop=${activeArea.width}:${activeArea.height}:${pad.x}:${pad.y}`] : [];

function inputOf({ output, video, probe, ...request }: QualityRequest, track: VideoTrack, trim: Trim): EncoderInput {
  const { capabilities, chunk, gridSeconds } = request;
  const span = chunk ? { span: chunk, slotFps: slotRate(probe), passLog: "" } : null;
  return encoderInput({ output, video, track, trim, capabilities, span, ...(gridSeconds ? { gridSeconds } : {}) });
}

/** Start of decoding in the source for a video. Videos with the same text can be measured in one run. */
export const sourceStart = (
  request: Pick<QualityRequest, "output" | "probe" | "chunk" | "prerollMs">,
  source: SourceTracks,
): string => sourceOptions(request, source, trimOf(request.output, source)).join(" ");

const sourceOptions = (
  request: Pick<QualityRequest, "output" | "probe" | "chunk" | "prerollMs">,
  source: SourceTracks,
  { seekMs }: Trim,
): string[] => {
  const { chunk } = request;
  if (chunk) return chunkSourceOptions({ ...request, chunk }, source, request.output.clip);
  return seekMs === 0 ? [] : ["-ss", seconds(seekMs)];
};

/** Filter with the same effect as the options of `trimArguments` on an output. `duration` counts from a first frame. */
function trimFilter({ seekMs, startMs, endMs }: Trim, chunk: ChunkSpan | undefined): string[] {
  const start = startMs === 0 ? [] : [`start=${seconds(startMs - seekMs)}`];
  const length = chunk ? `end=${seconds(endMs ?? 0)}` : `duration=${seconds((endMs ?? 0) - startMs)}`;
  const duration = endMs === null ? [] : [length];
  return start.length + duration.length === 0 ? [] : [`trim=${[...start, ...duration].join(":")}`];
}

/** Planar 4:2:0 of limited range for libvmaf: VMAF sees luma only. */
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

/** Selection of the measured frames. */
type SampledFrames = {
  /** Filters that keep the measured frames and the frame before each of them. Times start at 0. */
  readonly filters: readonly string[];
  /** libvmaf measures every nth frame of its input. */
  readonly subsample: number;
  /** Every nth frame of the video is measured. */
  readonly every: number;
};

/** From this distance on, dropping the frames in between before they are scaled saves time. */
const MIN_DROPPING = 3;

/**
 * Samples about `perSecond` frames of each second; null: all frames.
 * VMAF compares a frame with its neighbors in time, and takes the smaller difference. So the frame before each sample
 * is kept, too, and other frames are dropped. Frames are numbered by their time. So source and result have the same
 * samples even if a frame is missing in either. That needs a constant rate: times that differ by a rounding error could
 * otherwise be on both sides of a limit.
 */
export function sampledFrames(timing: FrameTiming, perSecond: number | null): SampledFrames {
  const every = perSecond === null ? 1 : Math.max(1, Math.round(timing.fps / perSecond));
  const fromZero = "setpts=PTS-STARTPTS";
  if (timing.isVariable || every < MIN_DROPPING) return { filters: [fromZero], subsample: every, every };
  const frames = `lte(mod(round(t*${timing.fps})+1,${every}),1)`;
  return { filters: [fromZero, `select=${quoted(frames)}`], subsample: 2, every };
}
