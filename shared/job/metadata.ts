// Metadata as the contract lists it: ffprobe's own values, with the fields that newer builds no longer print.
import * as z from "zod";
import { fraction, MediaProbe, type ProbedStream, rotationOf } from "../media/media-probe.ts";

/** Key names that mean the source (api-v2 §10): no output may have one. */
export const SOURCE_NAMES: ReadonlySet<string> = new Set(["input", "source"]);

const HlsEncryption = z
  .object({
    method: z.literal("AES-128"),
    key: z.string().describe("In hexadecimal"),
    key_uri: z.string().describe("Where players get it, as it was asked for"),
  })
  .describe("How the segments are encrypted: only of a key that the service made, and never in notifications");

export const HlsMetadata = MediaProbe.extend({ encryption: HlsEncryption.exactOptional() }).describe(
  "The tracks of each variant in turn; `tags.variant_bitrate` is its bandwidth in bit/s",
);

export const HttpStreamMetadata = z
  .strictObject({
    hls: HlsMetadata.exactOptional(),
    dash: MediaProbe.exactOptional().describe("The tracks of fragmented MP4"),
  })
  .describe("Of each package of an HTTP stream; the file name is the address of its playlist or manifest");
export type HttpStreamMetadata = z.infer<typeof HttpStreamMetadata>;

/** The metadata of one output. */
export const OutputMetadata = z.union([MediaProbe, HttpStreamMetadata]);
export type OutputMetadata = z.infer<typeof OutputMetadata>;

export const UltrafastReceipt = z
  .object({
    chunks: z.array(
      z.object({
        frames: z.int().describe("Of the source"),
        seconds: z.number(),
        node: z.string().describe("Which encoder node made it"),
        attempts: z.int().describe("How often it was begun"),
        encode_seconds: z.number(),
      }),
    ),
    frames_planned: z.int(),
    frames_joined: z.int(),
    largest_error_us: z.number().describe("The largest distance of a frame's time from the plan's, in µs"),
    picture_over_sound_ms: z.number().nullable().describe("How much longer the picture is; null without sound"),
    retries: z.int().describe("Attempts that came to nothing, of all parts"),
    encoder: z.string(),
  })
  .describe("How a film was made of chunks");
export type UltrafastReceipt = z.infer<typeof UltrafastReceipt>;

/** ffprobe's answer with the contract's fields filled in and `filename` replaced; nothing that was printed is dropped. */
export function contractMetadata(probe: MediaProbe, filename: string): MediaProbe {
  return { streams: probe.streams.map(contractStream), format: { ...probe.format, filename } };
}

function contractStream(stream: ProbedStream): ProbedStream {
  const codecTimeBase = stream.codec_time_base ?? codecTimeBaseOf(stream);
  const rotation = rotationOf(stream);
  return {
    ...stream,
    ...(codecTimeBase === null ? {} : { codec_time_base: codecTimeBase }),
    // ffprobe before 4.4 printed the AAC encoder's peak, which every ffmpeg build sets to the mean.
    ...(stream.codec_name === "aac" && stream.bit_rate ? { max_bit_rate: stream.max_bit_rate ?? stream.bit_rate } : {}),
    ...(rotation === 0 ? {} : { tags: { ...stream.tags, rotate: String(rotation) } }),
  };
}

/** Codecs whose time base counted fields, so that it was half a frame (ffprobe ≤ 4.3). */
const FIELD_CODECS = new Set(["h264", "mpeg2video", "mpeg4"]);

/** `codec_time_base` as ffprobe ≤ 4.3 printed it; verified against 4.0 for h264, hevc, vp9, opus and aac. */
function codecTimeBaseOf(stream: ProbedStream): string | null {
  if (stream.codec_type === "audio") return stream.sample_rate ? `1/${stream.sample_rate}` : null;
  const [numerator, denominator = "1"] = (stream.avg_frame_rate ?? "").split("/");
  if (stream.codec_type !== "video" || fraction(stream.avg_frame_rate) === null) return null;
  const frames = Number(numerator) * (FIELD_CODECS.has(stream.codec_name ?? "") ? 2 : 1);
  const divisor = greatestCommonDivisor(frames, Number(denominator));
  return `${Number(denominator) / divisor}/${frames / divisor}`;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/** The url that metadata and answers may show: without user, password and query. */
export function publicUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1").replace(/[?#].*$/, "");
}
