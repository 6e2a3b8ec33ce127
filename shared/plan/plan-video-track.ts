// The picture of a film: which encoder makes it, in which size and timing, and what it is told.
import type { FrameSize } from "../format/format-spec.ts";
import type { VideoOutput } from "../job/output-spec.ts";
import { type ChunkVideo, chunkVideo, type VideoSpan } from "./chunks/chunk-video.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import type { Filter } from "./command/filter-graph.ts";
import { quoted } from "./command/filter-text.ts";
import type { Refusal } from "./command/output-plan.ts";
import { encoderFailure, type VideoEncoder, videoEncoder } from "./encoders/choose-encoder.ts";
import { type HardwareDevice, uploadFilters } from "./encoders/hardware.ts";
import { chooseHardware, type HardwareEncoding, hardwareArguments } from "./encoders/hardware-encoders.ts";
import { levelFailure } from "./encoders/levels.ts";
import { isTooSmallForDnxhr } from "./encoders/mastering-profiles.ts";
import { type EncodedVideo, pixelFormatOf, videoArguments } from "./encoders/video-encoders.ts";
import { deinterlaceFilters } from "./filters/deinterlace.ts";
import type { Size } from "./filters/fit-frame.ts";
import { fitGeometry } from "./filters/frame-geometry.ts";
import { type FrameTiming, frameTiming } from "./filters/frame-timing.ts";
import { type HeldFrame, holdLastFrame } from "./filters/last-frame.ts";
import { planVideoFilters } from "./filters/video-filters.ts";
import type { VideoTrack } from "./source/source-tracks.ts";
import { type Trim, trimFilters } from "./source/trim.ts";

export type PlannedVideoTrack = {
  readonly filters: readonly Filter[];
  /** From `-c:v` on. */
  readonly argv: readonly string[];
  /** The same for the first of two passes; null: one pass. */
  readonly firstPass: readonly string[] | null;
  readonly timing: FrameTiming;
  /** In pixels, with padding. */
  readonly frame: Size;
  /** By ffmpeg's name. */
  readonly encoder: string;
  /** The hardware that encodes it; null: none. */
  readonly device: HardwareDevice | null;
  /** Null: the whole film. */
  readonly chunk: ChunkVideo | null;
};

type PictureResult = { readonly ok: true; readonly picture: PlannedVideoTrack } | Refusal;

/**
 * Plans the picture of an output. Refuses what codec, level or node cannot do. `gridSeconds` is the distance of keyframes at
 * fixed times, which H.264 and HEVC have; null: where the encoder likes. `part` is the chunk that is wanted of it; null: all.
 */
export function planVideoTrack(
  output: VideoOutput,
  asked: EncodedVideo,
  track: VideoTrack,
  cut: Trim,
  can: FfmpegCapabilities,
  gridSeconds: number | null = null,
  part: VideoSpan | null = null,
): PictureResult {
  const shape = { ...output, size: asked.size };
  const fitted = fitGeometry(shape, track, 2).frame;
  const legal = asked.codec === "h263" ? h263Size(fitted, asked.size) : null;
  const spec = { ...asked, size: legal ?? asked.size };
  const frame = legal ?? fitted;
  const timing = frameTiming(spec, output.container, track);
  const hardware = chooseHardware(spec, output.container, frame, can.hardware);
  const pixelFormat = hardware ? "nv12" : pixelFormatOf(spec, frame, timing.fps);
  // What DNxHD says of its colours in the stream itself, the encoder leaves at BT.709.
  const target = { pixelFormat, step: 2, onlyBt709: spec.codec === "dnxhd" } as const;
  const planned = planVideoFilters({ ...shape, size: spec.size }, track, target, can);
  if (!planned.ok) return planned;
  const { chain } = planned;
  const failure = levelFailure(spec.codec, spec.level, frame, timing.fps) ?? sizeRefusal(spec, frame);
  if (failure) return { ok: false, failure };
  const isLast = part === null || part.span.to === null;
  const hold = { codec: spec.codec, container: output.container, isStream: gridSeconds !== null, isLast, timing };
  const held = holdLastFrame(track, cut, hold);
  const chunk = part && withRepeated(chunkVideo(part, timing), held);
  const coding = part && chunk ? { sinceStart: chunk.sinceStart, share: part.span.share } : null;
  const passLog = part?.passLog ?? `${output.index}-pass`;
  const ask = {
    spec,
    container: output.container,
    frame,
    activeArea: chain.activeArea,
    timing,
    gridSeconds,
    chunk: coding,
  };
  const encoded = hardware ? inHardware(hardware, ask) : inSoftware(ask, passLog, can);
  if (!encoded) return { ok: false, failure: encoderFailure(spec.codec) };
  const before = [
    ...ownFrames(track, cut, timing),
    ...held.filters,
    ...trimFilters(cut),
    ...(output.deinterlace ? deinterlaceFilters(track, can) : []),
  ];
  return {
    ok: true,
    picture: {
      ...encoded,
      argv: [...encoded.argv, ...held.encoderArguments, ...held.lengthArguments],
      timing,
      frame,
      chunk,
      filters: [
        ...before,
        ...(chunk?.timing ?? timing.filters),
        ...(chunk?.trim ?? []),
        ...chain.filters,
        ...encoded.filters,
      ],
    },
  };
}

/** A frame that is shown again is one more. */
const withRepeated = (chunk: ChunkVideo, { repeats }: HeldFrame): ChunkVideo =>
  chunk.frames === null ? chunk : { ...chunk, frames: chunk.frames + repeats };

/** What the source shows: no frames from before its beginning, and no two at one time. */
function ownFrames(track: VideoTrack, { seekMs }: Trim, { isVariable: varies }: FrameTiming): string[] {
  // Behind a seek the timeline begins elsewhere, and what precedes the output is trimmed.
  const old = track.startsWithOldFrames && seekMs === 0 ? [`trim=start=-${SAME_TIME_SECONDS}`] : [];
  const twice = varies
    ? [`select=${quoted(`isnan(prev_selected_t)+gte(t-prev_selected_t,${SAME_TIME_SECONDS})`)}`]
    : [];
  return [...old, ...twice];
}

/** A little less than a millisecond: containers that count in those would give two such frames the same time. */
const SAME_TIME_SECONDS = 0.000999;

type Ask = Omit<Parameters<typeof videoArguments>[1], "pass" | "timing"> & { readonly timing: FrameTiming };
type Encoded = Omit<PlannedVideoTrack, "timing" | "frame" | "chunk">;

/** SVT-AV1 takes no less; versions before 1.0 crash on it. */
const SVT_MIN_SIDE = 64;

/**
 * Encoders whose chunks are encoded in two passes where a mean bitrate is asked for: in one pass they spend up to half as much
 * again on an easy chunk, and begin each one badly (docs/ultrafast.md).
 */
const CHUNKS_IN_TWO_PASSES: ReadonlySet<VideoEncoder> = new Set(["libx264", "libx265", "libvpx-vp9", "libaom-av1"]);

function inSoftware(ask: Ask, passLog: string, can: Pick<FfmpegCapabilities, "encoders">): Encoded | null {
  const { spec, frame, timing } = ask;
  const isSmall = Math.min(frame.width, frame.height) < SVT_MIN_SIDE;
  const encoders = isSmall ? can.encoders.filter((name) => name !== "libsvtav1") : can.encoders;
  const encoder = videoEncoder(spec.codec, spec.twoPass, { encoders });
  if (!encoder) return null;
  const hasMean = !("quality" in spec.rate);
  const twoPass = spec.twoPass || (ask.chunk !== null && hasMean && CHUNKS_IN_TWO_PASSES.has(encoder));
  const pass = (number: 1 | 2): string[] => [
    ...videoArguments(encoder, { ...ask, pass: twoPass ? { number, log: passLog } : null }),
    ...timing.argv,
  ];
  return { filters: [], argv: pass(2), firstPass: twoPass ? pass(1) : null, encoder, device: null };
}

function inHardware(hardware: HardwareEncoding, ask: Ask): Encoded {
  const { device, encoder } = hardware;
  return {
    // The chain ends in NV12 already.
    filters: uploadFilters(device.name).slice(1),
    argv: [...hardwareArguments(hardware, ask), ...ask.timing.argv],
    firstPass: null,
    encoder,
    device,
  };
}

/** The picture sizes of H.263 (ITU-T H.263 table 4): sub-QCIF, QCIF, CIF, 4CIF, 16CIF. */
const H263_SIZES: readonly Size[] = [
  { width: 128, height: 96 },
  { width: 176, height: 144 },
  { width: 352, height: 288 },
  { width: 704, height: 576 },
  { width: 1408, height: 1152 },
];

/** The largest that players of 3gp know (3GPP TS 26.234 asks for QCIF). */
const CIF: Size = { width: 352, height: 288 };

/**
 * The smallest frame of H.263 that holds one of this size, else its largest: the picture is fitted into it. Where no size was
 * asked for it is CIF at most.
 */
function h263Size({ width, height }: Size, asked: FrameSize): Size {
  const isAsked = asked.width !== null || asked.height !== null;
  const sizes = isAsked ? H263_SIZES : H263_SIZES.filter((size) => size.width <= CIF.width);
  return sizes.find((size) => size.width >= width && size.height >= height) ?? sizes.at(-1) ?? CIF;
}

function sizeRefusal({ codec }: EncodedVideo, frame: Size): Refusal["failure"] | null {
  if (codec !== "dnxhd" || !isTooSmallForDnxhr(frame)) return null;
  const message = `DNxHD needs at least 256x120 pixels, this would be ${frame.width}x${frame.height}.`;
  return { code: "output_size_not_possible", message };
}
