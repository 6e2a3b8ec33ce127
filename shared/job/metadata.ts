// Metadata in responses: ffprobe's values, plus fields of the contract that newer builds no longer print.
import * as z from "zod";
import { fraction, MediaProbe, type ProbedStream, rotationOf } from "../media/media-probe.ts";
import { NAMED } from "../named-schemas.ts";
import { LoudnessMetadata } from "./loudness.ts";
import { QualityMetadata } from "./quality.ts";
import { SpeechMetadata } from "./speech.ts";

/** Keys that name the source (api-v2 §10). Outputs must not have them. */
export const SOURCE_NAMES: ReadonlySet<string> = new Set(["input", "source"]);

const HlsEncryption = z
  .object({
    method: z.literal("AES-128"),
    key: z.string().describe("The key in hexadecimal"),
    key_uri: z.string().describe("The URL from which players load the key, as in the request"),
  })
  .describe("The encryption of the segments: only for keys that the service created, and never in notifications");

export const HlsMetadata = MediaProbe.extend({ encryption: HlsEncryption.exactOptional() })
  .describe("The tracks of each variant; `tags.variant_bitrate` is the bandwidth of the variant in bit/s")
  .register(NAMED, { id: "HlsMetadata" });

export const FileMetadata = MediaProbe.extend({
  quality: QualityMetadata.exactOptional(),
  loudness: z.array(LoudnessMetadata).exactOptional(),
  speech: z.array(SpeechMetadata).exactOptional(),
})
  .strict()
  .describe("Metadata of a file: the data of ffprobe, and its quality and loudness if they were measured")
  .register(NAMED, { id: "FileMetadata" });
export type FileMetadata = z.infer<typeof FileMetadata>;

export const HttpStreamMetadata = FileMetadata.extend({
  hls: HlsMetadata.exactOptional(),
  dash: MediaProbe.exactOptional().describe("The tracks in fragmented MP4"),
})
  .describe(
    "Metadata of each package of an HTTP stream; the file name is the URL of its playlist or manifest. `streams` and " +
      "`format` describe the first package",
  )
  .register(NAMED, { id: "HttpStreamMetadata" });
export type HttpStreamMetadata = z.infer<typeof HttpStreamMetadata>;

/** Metadata of an output. */
export const OutputMetadata = z.union([FileMetadata, HttpStreamMetadata]);
export type OutputMetadata = z.infer<typeof OutputMetadata>;

export const UltrafastReceipt = z
  .object({
    chunks: z.array(
      z.object({
        frames: z.int().describe("Number of frames of the source"),
        seconds: z.number(),
        node: z.string().describe("The encoder node that encoded the chunk"),
        attempts: z.int().describe("Number of attempts"),
        encode_seconds: z.number(),
      }),
    ),
    frames_planned: z.int(),
    frames_joined: z.int(),
    largest_error_us: z
      .number()
      .describe("The largest difference between the planned and the actual timestamp of a frame, in µs"),
    av_offset_ms: z
      .number()
      .nullable()
      .describe("How much longer the video is than the audio, in ms; null without audio"),
    retries: z.int().describe("Number of failed attempts of all tasks"),
    encoder: z.string(),
  })
  .describe("How a video was encoded in chunks");
export type UltrafastReceipt = z.infer<typeof UltrafastReceipt>;

/**
 * Returns ffprobe's output with the missing fields of the contract and a replaced `filename`. Keeps all other fields.
 */
export function contractMetadata(probe: MediaProbe, filename: string): MediaProbe {
  return { streams: probe.streams.map(contractStream), format: { ...probe.format, filename } };
}

function contractStream(stream: ProbedStream): ProbedStream {
  const codecTimeBase = stream.codec_time_base ?? codecTimeBaseOf(stream);
  const rotation = rotationOf(stream);
  return {
    ...stream,
    ...(codecTimeBase === null ? {} : { codec_time_base: codecTimeBase }),
    // ffprobe before 4.4 printed the AAC encoder's peak bitrate, which all ffmpeg builds set to the mean.
    ...(stream.codec_name === "aac" && stream.bit_rate ? { max_bit_rate: stream.max_bit_rate ?? stream.bit_rate } : {}),
    ...(rotation === 0 ? {} : { tags: { ...stream.tags, rotate: String(rotation) } }),
  };
}

/** Codecs whose time base counted fields and was therefore half a frame (ffprobe ≤ 4.3). */
const FIELD_CODECS = new Set(["h264", "mpeg2video", "mpeg4"]);

/** Returns `codec_time_base` as ffprobe ≤ 4.3 printed it. Verified against 4.0 for h264, hevc, vp9, opus and aac. */
function codecTimeBaseOf(stream: ProbedStream): string | null {
  if (stream.codec_type === "audio") return stream.sample_rate ? `1/${stream.sample_rate}` : null;
  const [numerator, denominator = "1"] = (stream.avg_frame_rate ?? "").split("/");
  if (stream.codec_type !== "video" || fraction(stream.avg_frame_rate) === null) return null;
  const frames = Number(numerator) * (FIELD_CODECS.has(stream.codec_name ?? "") ? 2 : 1);
  const divisor = greatestCommonDivisor(frames, Number(denominator));
  return `${Number(denominator) / divisor}/${frames / divisor}`;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/** The start of a URL up to its user, also in spellings such as `https:user@host`. */
const URL_START = /^(?:(?:https?|wss?|ftp):[/\\]*|[a-z][a-z0-9+.-]*:\/\/)/i;
/** Characters that URL parsers ignore: https://url.spec.whatwg.org/#concept-basic-url-parser, steps 1 to 3. */
const IGNORED = /^[\0-\x20]+|(?<![\0-\x20])[\0-\x20]+$|[\t\n\r]/g;

/** True for text that starts as a URL with a host, valid or not. */
export const isUrlText = (text: string): boolean => URL_START.test(text.replace(IGNORED, ""));

/** Returns the URL for metadata and responses, without user, password and query. */
export function publicUrl(url: string): string {
  const text = url.replace(IGNORED, "");
  const start = URL_START.exec(text)?.[0] ?? "";
  const rest = text.slice(start.length).replace(/[?#].*/s, "");
  return start + (start === "" ? rest : rest.replace(/^[^/\\]*@/, ""));
}
