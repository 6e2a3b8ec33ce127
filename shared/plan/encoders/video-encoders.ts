// What each video encoder is told: preset, rate, keyframes, profile, pass.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoTrackSpec } from "../../format/format-spec.ts";
import type { Size } from "../filters/fit-frame.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { type BitrateCodec, CHUNK_BUFFER_FILL, capArguments, defaultBitrateKbps, meanArguments } from "./bitrates.ts";
import type { VideoEncoder } from "./choose-encoder.ts";
import { gridArguments } from "./keyframe-grid.ts";
import { dnxProfile, proResProfile } from "./mastering-profiles.ts";
import { qualityStep } from "./quality-steps.ts";

/** A picture track that is encoded: no copy. */
export type EncodedVideo = VideoTrackSpec & { readonly codec: VideoCodec };

/** What an encoder must know of a chunk. */
export type ChunkEncodeOptions = {
  /** From the film's first frame to the chunk's, in seconds. */
  readonly sinceStart: number;
  /** Its mean bitrate, as a multiple of the film's. */
  readonly share: number;
};

export type VideoEncodeOptions = {
  readonly spec: EncodedVideo;
  readonly container: TrackContainer;
  /** In pixels: with padding, and without, which is what costs bits. */
  readonly frame: Size;
  readonly activeArea: Size;
  readonly timing: Pick<FrameTiming, "fps" | "isVariable">;
  /** Seconds between keyframes at fixed times, and none elsewhere; null: where the encoder likes. */
  readonly gridSeconds: number | null;
  /** Of a chunk, whose encoder is to go on as the whole film's would; null: the whole film. */
  readonly chunk: ChunkEncodeOptions | null;
  /** Of two; null: one pass. `log` is a name in the working folder. */
  readonly pass: { readonly number: 1 | 2; readonly log: string } | null;
};

/** ffmpeg's options for the picture, from `-c:v` on. */
export function videoArguments(encoder: VideoEncoder, ask: VideoEncodeOptions): string[] {
  return ["-c:v", encoder, ...ENCODERS[encoder](ask), ...orderArguments(encoder, ask), ...tagArguments(ask)];
}

/** The pixel format that the encoder is given, by ffmpeg's name. */
export function pixelFormatOf(spec: EncodedVideo, frame: Size, fps: number): string {
  switch (spec.codec) {
    case "prores":
    case "prores-ks":
      return proResProfile(spec.rate, spec.pixelFormat === "yuva444p10le").pixelFormat;
    case "dnxhd":
      return dnxProfile(spec.rate, spec.pixelFormat === "yuv422p", frame, fps).pixelFormat;
    case "mjpeg":
      // JPEG's samples are full range.
      return spec.pixelFormat === "yuv422p" ? "yuvj422p" : "yuvj420p";
    default:
      return spec.pixelFormat ?? "yuv420p";
  }
}

/**
 * Seconds between keyframes at most: what a player must decode before it shows the point to which a viewer jumped. Twice
 * as many would save one or two percent of the bits.
 */
const KEYFRAME_SECONDS = 5;
/** Half a second: players of DVDs and broadcasts begin anywhere (DVD allows 18 frames at most). */
const MPEG2_KEYFRAME_SECONDS = 0.5;

const keyframes = ({ timing }: VideoEncodeOptions, seconds = KEYFRAME_SECONDS): string[] => [
  "-g",
  String(Math.max(1, Math.round(timing.fps * seconds))),
];

const passArguments = ({ pass }: VideoEncodeOptions): string[] =>
  pass ? ["-pass", String(pass.number), "-passlogfile", pass.log] : [];

/** The mean bitrate: the one asked for, or by picture and codec within the cap. */
function meanKbps({ spec, activeArea: picture }: VideoEncodeOptions): number {
  const { rate, codec } = spec;
  if ("bitrateKbps" in rate && rate.bitrateKbps !== null) return rate.bitrateKbps;
  return Math.min(defaultBitrateKbps(codec as BitrateCodec, picture), rate.maxrateKbps ?? Infinity);
}

const shareOf = ({ chunk }: Pick<VideoEncodeOptions, "chunk">): { share: number } => ({ share: chunk?.share ?? 1 });

/** Whether the encoder begins where another one ended, and not with the film. */
const goesOn = ({ chunk }: VideoEncodeOptions): boolean => chunk !== null && chunk.sinceStart > 0;

const quality = (encoder: Parameters<typeof qualityStep>[0], step: number): string =>
  String(qualityStep(encoder, step));

/** Encoders with a constant rate factor that a cap can go beside. */
function crfArguments(encoder: "libx264" | "libx265", ask: VideoEncodeOptions): string[] {
  const { rate } = ask.spec;
  if (!("quality" in rate)) return meanArguments(meanKbps(ask), rate.maxrateKbps, shareOf(ask));
  const cap = rate.maxrateKbps === null ? [] : capArguments(rate.maxrateKbps);
  return ["-crf", quality(encoder, rate.quality), ...cap];
}

/**
 * libvpx and libaom: a constant quality, or at most this bitrate of it. Caps are means over their buffer there. For VP8
 * no bitrate means 200k, so that its constant quality needs one that is never reached.
 */
function constrainedQuality(encoder: "libvpx" | "libvpx-vp9" | "libaom-av1", ask: VideoEncodeOptions): string[] {
  const { rate } = ask.spec;
  if (!("quality" in rate)) return meanArguments(meanKbps(ask), rate.maxrateKbps, shareOf(ask));
  const crf = ["-crf", quality(encoder, rate.quality)];
  if (rate.maxrateKbps !== null) return [...crf, "-b:v", `${rate.maxrateKbps}k`, ...capArguments(rate.maxrateKbps)];
  return [...crf, "-b:v", encoder === "libvpx" ? "100M" : "0"];
}

/**
 * ffmpeg's own encoders: a constant quantiser. Beside a cap it becomes the finest one allowed, at a mean that is the cap:
 * then easy scenes have this quality and hard ones keep the cap.
 */
function quantiserArguments(
  encoder: "mpeg4" | "mpeg2video" | "mjpeg" | "flv" | "h263" | "wmv2",
  ask: VideoEncodeOptions,
): string[] {
  const { rate, codec } = ask.spec;
  const buffer = codec === "mpeg2video" ? mpeg2BufferKbit(ask.frame) : Infinity;
  if (!("quality" in rate)) return meanArguments(meanKbps(ask), rate.maxrateKbps, { maxBufferKbit: buffer });
  const quantiser = quality(encoder, rate.quality);
  if (rate.maxrateKbps === null) return ["-q:v", quantiser];
  return ["-qmin", quantiser, "-b:v", `${rate.maxrateKbps}k`, ...capArguments(rate.maxrateKbps, buffer)];
}

/** The largest VBV buffer of main profile: at main level up to 720×576, else at high level (ISO 13818-2 table 8-14). */
const mpeg2BufferKbit = ({ width, height }: Size): number => (width <= 720 && height <= 576 ? 1835 : 9781);

/** 4.1 for 41. */
const levelText = (level: number): string => `${Math.floor(level / 10)}.${level % 10}`;

function x264(ask: VideoEncodeOptions): string[] {
  const { profile, level } = ask.spec;
  const params = [
    // It would take its level and its rates from a nominal rate like 1000 frames per second.
    ...(ask.timing.isVariable ? [`fps=${meanFps(ask)}`] : []),
    ...(goesOn(ask) ? [`vbv-init=${CHUNK_BUFFER_FILL}`] : []),
    // Else a second pass puts what suits its own frames into the header.
    ...(ask.chunk ? ["stitchable=1"] : []),
  ];
  return [
    // x264's own balance: each faster preset costs bits at equal quality.
    ...["-preset", "medium", ...crfArguments("libx264", ask)],
    ...(ask.gridSeconds === null
      ? keyframes(ask)
      : [...gridArguments(ask.gridSeconds, ask.chunk?.sinceStart), "-keyint_min", "1", "-sc_threshold", "0"]),
    ...(profile ? ["-profile:v", profile] : []),
    ...(level ? ["-level", levelText(level)] : []),
    ...(params.length === 0 ? [] : ["-x264-params", params.join(":")]),
    ...passArguments(ask),
  ];
}

function x265(ask: VideoEncodeOptions): string[] {
  const { profile, level } = ask.spec;
  const params = [
    // It writes to stderr by itself.
    "log-level=error",
    ...(level ? [`level-idc=${levelText(level)}`] : []),
    ...(ask.timing.isVariable ? [`fps=${meanFps(ask)}`] : []),
    ...(ask.pass ? [`pass=${ask.pass.number}`, `stats=${ask.pass.log}.log`] : []),
    // A keyframe of an open group is none to begin at: the frames before it in time need those before it in the file.
    ...(ask.gridSeconds === null ? [] : ["open-gop=0", "scenecut=0", "min-keyint=1"]),
    ...(goesOn(ask) ? [`vbv-init=${CHUNK_BUFFER_FILL}`] : []),
    // It writes its settings into the header, and those of chunks differ. Its first pass is as slow as the second by default.
    ...(ask.chunk ? ["info=0", ...(ask.pass ? ["slow-firstpass=0"] : [])] : []),
  ];
  return [
    ...["-preset", "fast", ...crfArguments("libx265", ask)],
    ...(ask.gridSeconds === null
      ? keyframes(ask)
      : [...gridArguments(ask.gridSeconds, ask.chunk?.sinceStart), "-forced-idr", "1"]),
    ...(profile ? ["-profile:v", profile] : []),
    ...["-x265-params", params.join(":")],
  ];
}

/**
 * One thread: libvpx lets VP8's wait for each other in loops, so that four encodes on two cores took 27 s in place of 1.9 s
 * (a single one 0.5 s in place of 0.8 s).
 */
function vp8(ask: VideoEncodeOptions): string[] {
  const speed = ["-threads", "1", "-deadline", "good", "-cpu-used", "2", "-auto-alt-ref", "1", "-lag-in-frames", "16"];
  return [...speed, ...constrainedQuality("libvpx", ask), ...keyframes(ask), ...passArguments(ask)];
}

/** Columns are what a wide VP9 picture is decoded in parallel by; narrower ones lose more bits than time by them. */
const vp9Columns = ({ frame }: VideoEncodeOptions): string[] => (frame.width >= 1920 ? ["-tile-columns", "2"] : []);

function vp9(ask: VideoEncodeOptions): string[] {
  const speed = ["-deadline", "good", "-cpu-used", "4", "-row-mt", "1", ...vp9Columns(ask)];
  return [...speed, ...constrainedQuality("libvpx-vp9", ask), ...keyframes(ask), ...passArguments(ask)];
}

/**
 * A cap goes beside its constant quality only, which stands in for a mean that nobody asked for. A mean that was asked for
 * it keeps without a cap.
 */
function svtAv1(ask: VideoEncodeOptions): string[] {
  const { rate } = ask.spec;
  const step = "quality" in rate ? rate.quality : rate.bitrateKbps === null && rate.maxrateKbps !== null ? 3 : null;
  const cap = rate.maxrateKbps === null ? [] : capArguments(rate.maxrateKbps);
  const rates =
    step === null
      ? ["-b:v", `${Math.round(meanKbps(ask) * shareOf(ask).share)}k`]
      : ["-crf", quality("libsvtav1", step), ...cap];
  // Above 240 frames per second it refuses, also when only the time base is as fine.
  const fps = ask.timing.isVariable
    ? ["-svtav1-params", `fps-num=${Math.round(ask.timing.fps * 1000)}:fps-denom=1000`]
    : [];
  return ["-preset", "8", ...rates, ...keyframes(ask), ...fps];
}

const aomAv1 = (ask: VideoEncodeOptions): string[] => [
  ...["-cpu-used", "6", "-row-mt", "1", ...constrainedQuality("libaom-av1", ask)],
  ...[...keyframes(ask), ...passArguments(ask)],
];

function theora(ask: VideoEncodeOptions): string[] {
  const { rate } = ask.spec;
  const rates = "quality" in rate ? ["-q:v", quality("libtheora", rate.quality)] : ["-b:v", `${meanKbps(ask)}k`];
  return [...rates, ...keyframes(ask), ...passArguments(ask)];
}

const ownEncoder =
  (encoder: "mpeg4" | "flv" | "h263" | "wmv2" | "mjpeg") =>
  (ask: VideoEncodeOptions): string[] => [
    ...quantiserArguments(encoder, ask),
    ...(encoder === "mjpeg" ? [] : keyframes(ask)),
    ...passArguments(ask),
  ];

const mpeg2 = (ask: VideoEncodeOptions): string[] => [
  ...[...quantiserArguments("mpeg2video", ask), ...keyframes(ask, MPEG2_KEYFRAME_SECONDS), "-bf", "2"],
  ...passArguments(ask),
];

const proRes = ({ spec }: VideoEncodeOptions): string[] => [
  ...proResProfile(spec.rate, spec.pixelFormat === "yuva444p10le").argv,
  // What Apple's own programs expect.
  ...["-vendor", "apl0"],
];

const dnx = ({ spec, frame, timing }: VideoEncodeOptions): string[] => [
  ...dnxProfile(spec.rate, spec.pixelFormat === "yuv422p", frame, timing.fps).argv,
];

const ENCODERS: Readonly<Record<VideoEncoder, (ask: VideoEncodeOptions) => string[]>> = {
  libx264: x264,
  libx265: x265,
  libvpx: vp8,
  "libvpx-vp9": vp9,
  libsvtav1: svtAv1,
  "libaom-av1": aomAv1,
  libtheora: theora,
  mpeg4: ownEncoder("mpeg4"),
  mpeg2video: mpeg2,
  mjpeg: ownEncoder("mjpeg"),
  prores: proRes,
  prores_ks: proRes,
  dnxhd: dnx,
  flv: ownEncoder("flv"),
  h263: ownEncoder("h263"),
  wmv2: ownEncoder("wmv2"),
};

const meanFps = ({ timing }: VideoEncodeOptions): number => Number(timing.fps.toFixed(3));

/** They have one time per frame, of decoding, and not all players can tell the order of display from the frames. */
const WITHOUT_REORDERING: ReadonlySet<TrackContainer> = new Set(["avi", "asf"]);
const REORDERING: ReadonlySet<VideoEncoder> = new Set(["libx264", "libx265", "mpeg2video"]);

const orderArguments = (encoder: VideoEncoder, { container }: VideoEncodeOptions): string[] =>
  WITHOUT_REORDERING.has(container) && REORDERING.has(encoder) ? ["-bf", "0"] : [];

/** Apple's players want HEVC's parameter sets in the header only (`hvc1`); players of avi know `XVID`, few ffmpeg's `FMP4`. */
const TAGS: Readonly<Partial<Record<TrackContainer, Readonly<Partial<Record<VideoCodec, string>>>>>> = {
  mp4: { hevc: "hvc1" },
  mov: { hevc: "hvc1" },
  avi: { mpeg4: "XVID" },
};

/** The four letters by which players know the codec, where ffmpeg's own choice is not the best. */
export const fourCharacterCode = (codec: VideoCodec, container: TrackContainer): string[] => {
  const tag = TAGS[container]?.[codec];
  return tag ? ["-tag:v", tag] : [];
};

const tagArguments = ({ spec, container }: VideoEncodeOptions): string[] => fourCharacterCode(spec.codec, container);
