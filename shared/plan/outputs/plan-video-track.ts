// Plans a video track: its encoder, frame size, timing, filters and options.
import type { VideoOutput } from "../../job/output-spec.ts";
import { changesInTime } from "../../job/overlays.ts";
import type { Need } from "../../protocol/needs.ts";
import { err, ok, type Result } from "../../result.ts";
import { type ChunkVideo, chunkVideo, type VideoSpan } from "../chunks/chunk-video.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import { quoted } from "../command/filter-text.ts";
import { encodedRate } from "../encoders/bitrates.ts";
import { encoderFailure, type VideoEncoder, videoEncoders } from "../encoders/choose-encoder.ts";
import { dnxhdFailure, h263Size } from "../encoders/codec-frame-sizes.ts";
import { type HardwareDevice, uploadFilters } from "../encoders/hardware.ts";
import {
  chooseHardware,
  type HardwareEncoding,
  hardwareArguments,
  hardwareEncoders,
} from "../encoders/hardware-encoders.ts";
import { levelFailure } from "../encoders/levels.ts";
import { type EncodedVideo, hasQualityTarget, type VideoEncodeOptions } from "../encoders/video-encode-options.ts";
import { pixelFormatOf, videoArguments } from "../encoders/video-encoders.ts";
import { burnVideo } from "../filters/burn-in.ts";
import type { TargetFormat } from "../filters/color-conversion.ts";
import { filterFailure, filterNeeds, VMAF_NEED } from "../filters/filter-needs.ts";
import { fitGeometry } from "../filters/frame-geometry.ts";
import { type FrameTiming, frameTiming } from "../filters/frame-timing.ts";
import { type HeldFrame, holdLastFrame, stillFilters } from "../filters/last-frame.ts";
import { type DrawnOverlays, drawnOverlays } from "../filters/overlays/overlay-times.ts";
import { deinterlaceFilters, planVideoFilters } from "../filters/video-filters.ts";
import type { Size } from "../source/frame-size.ts";
import { lastEnd } from "../source/output-length.ts";
import { type ColorTags, isHdr } from "../source/source-color.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { type Trim, trimFilters } from "../source/trim.ts";

export type PlannedVideoTrack = {
  readonly filters: readonly Filter[];
  /** Arguments from `-c:v` on. */
  readonly argv: readonly string[];
  /** Arguments of the first of two passes; null: one pass. */
  readonly firstPass: readonly string[] | null;
  readonly timing: FrameTiming;
  /** In pixels, with padding. */
  readonly frame: Size;
  /** Color space of HDR, which is PQ or HLG; null: no HDR. */
  readonly hdr: ColorTags | null;
  /** True if frames have the captions of the source, which the encoder may copy. */
  readonly captions: boolean;
  /** By ffmpeg's name. */
  readonly encoder: string;
  /** Hardware that encodes the track; null: software. */
  readonly device: HardwareDevice | null;
  /** Null: the whole video. */
  readonly chunk: ChunkVideo | null;
  /** Needs of any node that makes the track. */
  readonly needs: readonly Need[];
};

export type VideoTrackRequest = {
  readonly output: VideoOutput;
  /** The output's video, which is not a copy. */
  readonly video: EncodedVideo;
  /** The source's video. */
  readonly track: VideoTrack;
  readonly trim: Trim;
  readonly capabilities: FfmpegCapabilities;
  /** Distance of keyframes at fixed times, as in streams, in seconds; left out: the encoder chooses. */
  readonly gridSeconds?: number;
  /** The chunk to plan; left out or null: the whole video. */
  readonly span?: VideoSpan | null;
};

/** Plans the video track of an output. Fails if codec, level or node does not support the request. */
export function planVideoTrack(request: VideoTrackRequest): Result<PlannedVideoTrack> {
  const { output, track, capabilities } = request;
  const { container } = output;
  const input = encoderInput(request);
  const { video, frame, timing, hardware, held, chunk } = input;
  const burnIn = burnVideo(output, request.trim.seekMs);
  const drawn = overlaysOfVideo(request, timing);
  if (!drawn.ok) return drawn;
  const options = { ...output, size: video.size, burnIn, drawn: drawn.value };
  const planned = planVideoFilters(options, track, input.target);
  if (!planned.ok) return planned;
  const failure = levelFailure(video.codec, video.level, frame, timing.fps) ?? dnxhdFailure(video.codec, frame);
  if (failure) return err(failure);
  const { activeArea, tags } = planned.value;
  const hdr = isHdr(tags) ? tags : null;
  const light = hdr && track.color.light;
  const gridSeconds = request.gridSeconds ?? null;
  const spec = { ...video, rate: encodedRate(video, activeArea) };
  const encodeOptions = { spec, container, frame, activeArea, timing, light, gridSeconds, chunk: input.chunkOptions };
  const encoding = hardware
    ? inHardware(hardware, encodeOptions)
    : inSoftware(encodeOptions, request.span?.passLog ?? `${output.index}-pass`, capabilities);
  if (!encoding) return err(encoderFailure(video.codec));
  const captions = planCaptions(track, timing, output.captions === "drop", capabilities);
  const filters = [...captions.filters, ...input.filters, ...planned.value.filters, ...encoding.filters];
  const measures = "vmaf" in video.rate || output.measuresQuality ? [VMAF_NEED] : [];
  const needs = [encoderNeed(encodeOptions), ...filterNeeds(filters), ...measures];
  const lacking = filterFailure(needs, capabilities);
  if (lacking) return err(lacking);
  const argv = [...encoding.argv, ...held.encoderArguments, ...held.lengthArguments];
  return ok({ ...encoding, argv, timing, frame, hdr, captions: captions.kept, chunk, filters, needs });
}

/** The overlays of a video, on the clock of its frames. */
export function overlaysOfVideo(
  { output, track, trim }: Pick<VideoTrackRequest, "output" | "track" | "trim">,
  { fps, isVariable, filters }: FrameTiming,
): Result<DrawnOverlays | null> {
  const endMs = track.lengthFrom === "estimate" ? null : lastEnd(trim, [track]);
  const originMs = (filters.length > 0 ? 0 : track.startMs) - trim.seekMs;
  const clock = {
    startMs: trim.startMs - trim.seekMs,
    sourceMs: -trim.seekMs,
    lengthMs: endMs === null ? null : endMs - trim.startMs,
    grid: isVariable ? null : { fps, originMs },
    fps: isVariable ? null : fps,
  };
  return drawnOverlays(output, clock, track);
}

/** Input of a track's encoder, apart from the size and the colors of the frames. */
export type EncoderInput = {
  /** The requested video, with a size that the codec supports. */
  readonly video: EncodedVideo;
  /** In pixels, with padding. */
  readonly frame: Size;
  readonly timing: FrameTiming;
  /** Null: the encoder is software. */
  readonly hardware: HardwareEncoding | null;
  readonly target: TargetFormat;
  readonly held: HeldFrame;
  readonly chunk: ChunkVideo | null;
  readonly chunkOptions: EncodeOptions["chunk"];
  /** The first filters of the track. They select frames and set their times. */
  readonly filters: readonly Filter[];
};

export function encoderInput(request: VideoTrackRequest): EncoderInput {
  const { output, track, capabilities } = request;
  const { video, frame } = supportedSize(request);
  const kind = { isStream: request.gridSeconds !== undefined, isCaptioned: changesInTime(output) };
  const timing = frameTiming({ ...video, ...kind }, output.container, track);
  const hardware = chooseHardware(video, output.container, frame, capabilities.hardware);
  const pixelFormat = hardware ? "nv12" : pixelFormatOf(video, frame, timing.fps);
  const { held, chunk, chunkOptions } = heldAndChunk(request, video, timing);
  return {
    video,
    frame,
    timing,
    hardware,
    held,
    chunk,
    chunkOptions,
    // DNxHD states its colors in the stream itself, where the encoder always writes BT.709.
    target: { pixelFormat, step: 2, onlyBt709: video.codec === "dnxhd" },
    filters: [...sourceFilters(request, timing, held), ...(chunk?.timing ?? timing.filters), ...(chunk?.trim ?? [])],
  };
}

/**
 * Size of the output's frames, and the requested video. The video has this size if the codec supports no other size.
 */
function supportedSize({ output, video, track }: VideoTrackRequest): { video: EncodedVideo; frame: Size } {
  const fitted = fitGeometry({ ...output, size: video.size }, track, 2).frame;
  if (video.codec !== "h263") return { video, frame: fitted };
  const frame = h263Size(fitted, video.size);
  return { video: { ...video, size: frame }, frame };
}

/** Returns the options that hold the last frame, and the frames of a chunk to encode. */
function heldAndChunk(
  { output, track, trim, gridSeconds, span }: VideoTrackRequest,
  video: EncodedVideo,
  timing: FrameTiming,
) {
  const held = holdLastFrame(track, trim, {
    codec: video.codec,
    container: output.container,
    isStream: gridSeconds !== undefined,
    isLast: !span || span.span.to === null,
    timing,
  });
  const chunk = span ? withRepeats(chunkVideo(span, timing, { trim, track }), held) : null;
  const chunkOptions = span && chunk ? { sinceStart: chunk.sinceStart, share: span.span.share } : null;
  return { held, chunk, chunkOptions };
}

/** Counts repeated frames as well. */
const withRepeats = (chunk: ChunkVideo, { repeats }: HeldFrame): ChunkVideo =>
  chunk.frames === null ? chunk : { ...chunk, frames: chunk.frames + repeats };

/** Filters that come before all filters that change timing or frames. */
const sourceFilters = (
  { output, track, trim, capabilities }: VideoTrackRequest,
  timing: FrameTiming,
  held: HeldFrame,
): Filter[] => [
  ...stillFilters(track),
  ...invalidFrameFilters(track, trim, timing),
  ...held.filters,
  ...trimFilters(trim),
  ...(output.deinterlace ? deinterlaceFilters(track, capabilities) : []),
];

/** Drops frames from before the start of the source. Keeps only the first frame of several with the same time. */
function invalidFrameFilters(track: VideoTrack, { seekMs }: Trim, { isVariable }: FrameTiming): string[] {
  // After a seek the timeline starts elsewhere, and frames before the output are trimmed.
  const old = track.startsWithOldFrames && seekMs === 0 ? [`trim=start=-${SAME_TIME_SECONDS}`] : [];
  const same = isVariable
    ? [`select=${quoted(`isnan(prev_selected_t)+gte(t-prev_selected_t,${SAME_TIME_SECONDS})`)}`]
    : [];
  return [...old, ...same];
}

/** A little less than a millisecond: containers that count in milliseconds would give two such frames the same time. */
const SAME_TIME_SECONDS = 0.000999;

type EncodeOptions = Omit<VideoEncodeOptions, "pass">;
type Encoding = Omit<PlannedVideoTrack, "timing" | "frame" | "hdr" | "captions" | "chunk" | "needs">;

/** Any encoder that makes such video, in software or hardware. */
const encoderNeed = ({ spec, container, frame }: EncodeOptions): Need => ({
  kind: "encoder",
  anyOf: [...videoEncoders(spec.codec, spec.twoPass, frame), ...hardwareEncoders(spec, container, frame)],
});

/**
 * Encoders that encode chunks in two passes if a mean bitrate is requested. In a single pass they use up to 50 % more
 * bits for an easy chunk, and start each chunk with low quality (docs/ultrafast.md).
 */
const CHUNKS_IN_TWO_PASSES: ReadonlySet<VideoEncoder> = new Set(["libx264", "libx265", "libvpx-vp9", "libaom-av1"]);

/** Versions in which SVT-AV1 ignores forced keyframes of a mean bitrate: before 6.1. */
const WITHOUT_FORCED_KEYFRAMES = /^n?(?:[1-5]\.|6\.0)/;

function inSoftware(
  options: EncodeOptions,
  passLog: string,
  { encoders, ffmpegVersion = "" }: Pick<FfmpegCapabilities, "encoders" | "ffmpegVersion">,
): Encoding | null {
  const { spec, frame, timing } = options;
  const hasMean = !hasQualityTarget(spec.rate);
  const ignoresGrid = options.gridSeconds !== null && hasMean && WITHOUT_FORCED_KEYFRAMES.test(ffmpegVersion);
  const candidates = videoEncoders(spec.codec, spec.twoPass, frame);
  const encoder = candidates.find((name) => encoders.includes(name) && !(ignoresGrid && name === "libsvtav1"));
  if (!encoder) return null;
  const twoPass = spec.twoPass || (options.chunk !== null && hasMean && CHUNKS_IN_TWO_PASSES.has(encoder));
  const pass = (number: 1 | 2): string[] => [
    ...videoArguments(encoder, { ...options, pass: twoPass ? { number, log: passLog } : null }),
    ...timing.argv,
  ];
  return { filters: [], argv: pass(2), firstPass: twoPass ? pass(1) : null, encoder, device: null };
}

function inHardware(hardware: HardwareEncoding, options: EncodeOptions): Encoding {
  const { device, encoder } = hardware;
  return {
    filters: uploadFilters(device.name),
    argv: [...hardwareArguments(hardware, options), ...options.timing.argv],
    firstPass: null,
    encoder,
    device,
  };
}

// Closed captions in frames. Encoders copy the captions that frames have, so a filter has to remove them.

/** Removes captions, because encoders that support captions copy them. */
const REMOVE = "sidedata=mode=delete:type=A53_CC";

/**
 * Versions that keep captions complete: ffmpeg 6.1 and newer. Older versions repeat or drop parts of the text together
 * with frames.
 */
const REPACKS = /^(?:N-|6\.[1-9]|[7-9]\.|[1-9]\d)/;

/** Plans captions. `filters`: filters that remove them. `kept`: frames still have the source's captions. */
export function planCaptions(
  { hasCaptions, constantRate, fps }: Pick<VideoTrack, "hasCaptions" | "constantRate" | "fps">,
  timing: Pick<FrameTiming, "filters" | "fps">,
  drops: boolean,
  { ffmpegVersion }: Pick<FfmpegCapabilities, "ffmpegVersion">,
): { readonly filters: readonly string[]; readonly kept: boolean } {
  // Captions that start later than the node has read are dropped, too.
  if (drops) return { filters: [REMOVE], kept: false };
  if (!hasCaptions) return { filters: [], kept: false };
  const keepsFrames = timing.filters.length === 0 || (constantRate && fps === timing.fps);
  const breaks = !keepsFrames && ffmpegVersion !== undefined && !REPACKS.test(ffmpegVersion);
  return breaks ? { filters: [REMOVE], kept: false } : { filters: [], kept: true };
}
