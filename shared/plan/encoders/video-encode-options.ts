// The input of all video encoders, and the ffmpeg options that many of them share.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { RateTarget, VideoTrackSpec } from "../../format/format-spec.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import type { Size } from "../source/frame-size.ts";
import type { HdrLight } from "../source/hdr-light.ts";
import { type BitrateCodec, defaultBitrateKbps } from "./bitrates.ts";
import { qualityStep } from "./quality-steps.ts";
import { type RateFactorEncoder, usualRateFactor } from "./rate-factors.ts";

/** A video track that is encoded, not copied. */
export type EncodedVideo = VideoTrackSpec & { readonly codec: VideoCodec };

/** Options for the encoder of a chunk. */
export type ChunkEncodeOptions = {
  /** Time from the first frame of the video to the first frame of the chunk, in seconds. */
  readonly sinceStart: number;
  /** The chunk's mean bitrate, as a multiple of the video's. */
  readonly share: number;
};

export type VideoEncodeOptions = {
  readonly spec: EncodedVideo;
  readonly container: TrackContainer;
  /** Size in pixels, with padding. */
  readonly frame: Size;
  /** Size without padding, which determines how many bits are needed. */
  readonly activeArea: Size;
  readonly timing: FrameTiming;
  /** Light levels that the source states, for HDR; null: no HDR. */
  readonly light: HdrLight | null;
  /** Seconds between keyframes at fixed times, with no keyframes in between; null: the encoder chooses. */
  readonly gridSeconds: number | null;
  /** Set for a chunk, which is to be encoded like a section of the whole video; null: the whole video. */
  readonly chunk: ChunkEncodeOptions | null;
  /** Number of the pass, for two passes; null: one pass. `log` is a name in the working folder. */
  readonly pass: { readonly number: 1 | 2; readonly log: string } | null;
};

/**
 * Longest distance between keyframes in seconds. After a seek, a player decodes up to this much before it shows the
 * frame. Twice the distance would save one or two percent of the bits.
 */
const KEYFRAME_SECONDS = 5;

/** The longest distance of keyframes, counted in frames. */
export const keyframeArguments = (
  { timing }: Pick<VideoEncodeOptions, "timing">,
  seconds = KEYFRAME_SECONDS,
): string[] => ["-g", String(Math.max(1, Math.round(timing.fps * seconds)))];

export const passArguments = ({ pass }: VideoEncodeOptions): string[] =>
  pass ? ["-pass", String(pass.number), "-passlogfile", pass.log] : [];

/** Mean bitrate: the requested bitrate, or the default for frame size and codec within the cap. */
export function meanKbps({ spec, activeArea }: Pick<VideoEncodeOptions, "spec" | "activeArea">): number {
  const { rate, codec } = spec;
  if ("bitrateKbps" in rate && rate.bitrateKbps !== null) return rate.bitrateKbps;
  return Math.min(defaultBitrateKbps(codec as BitrateCodec, activeArea), rate.maxrateKbps ?? Infinity);
}

/** Mean bitrate as a multiple of the video's: 1 except for chunks. */
export const shareOf = ({ chunk }: Pick<VideoEncodeOptions, "chunk">): number => chunk?.share ?? 1;

/** True if the encoder starts where another encoder ended, and not at the start of the video. */
export const isContinuation = ({ chunk }: VideoEncodeOptions): boolean => chunk !== null && chunk.sinceStart > 0;

type WithMean = Extract<RateTarget, { bitrateKbps: number | null }>;
/** A quality step or a VMAF. */
export type QualityTarget = Exclude<RateTarget, WithMean>;

export const hasQualityTarget = (rate: RateTarget): rate is QualityTarget => !("bitrateKbps" in rate);

/**
 * Rate factor for a quality, as text. For a VMAF: the factor of usual video until a search has found a better factor.
 */
export const rateFactorText = (encoder: RateFactorEncoder, rate: QualityTarget): string =>
  "quality" in rate
    ? qualityText(encoder, rate.quality)
    : String(rate.rateFactor ?? usualRateFactor(encoder, rate.vmaf));

/** Value of a quality step for an encoder, as text. */
export const qualityText = (encoder: Parameters<typeof qualityStep>[0], step: number): string =>
  String(qualityStep(encoder, step));
