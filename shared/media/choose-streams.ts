// Chooses the video stream and the audio stream of a source that has several. All code uses this choice.
import type { Failure } from "../errors.ts";
import { ALLOWED_DECODERS } from "./decoders.ts";
import type { ProbedStream } from "./media-probe.ts";

/**
 * True if a stream is video, has packets, and is not cover art, which is a video stream with the disposition
 * `attached_pic`.
 */
export function isMotionVideo(stream: ProbedStream): boolean {
  return (
    stream.codec_type === "video" &&
    !stream.empty &&
    !!stream.width &&
    !!stream.height &&
    stream.disposition?.attached_pic !== 1
  );
}

/** The weight of the disposition `default` in ffmpeg's choice, in pixels (`map_auto_video` in ffmpeg_mux_init.c). */
const DEFAULT_PIXELS = 5_000_000;

/**
 * The video stream that ffmpeg chooses by default: the largest, where the disposition `default` counts as five million
 * pixels; the first of equal ones. Never cover art. Decodable streams take precedence over all others.
 */
export const chosenVideo = (streams: readonly ProbedStream[]): ProbedStream | undefined =>
  best(streams.filter(isMotionVideo), (stream) => [
    rank(undecodable(stream) === null),
    (stream.width ?? 0) * (stream.height ?? 0) + (isDefault(stream) ? DEFAULT_PIXELS : 0),
  ]);

/**
 * The audio stream with the disposition `default`, else the first; of several default ones, the one with the most
 * channels. Audio of the chosen video's program takes precedence over all other audio, and the main audio over audio
 * for a part of the audience.
 */
export function chosenAudio(streams: readonly ProbedStream[]): ProbedStream | undefined {
  const programs = chosenVideo(streams)?.programs ?? [];
  return best(
    streams.filter(({ codec_type }) => codec_type === "audio"),
    (stream) => [
      rank(stream.programs?.some((program) => programs.includes(program)) ?? false),
      rank(undecodable(stream) === null),
      rank(!SPECIAL_AUDIO.some((disposition) => stream.disposition?.[disposition] === 1)),
      isDefault(stream) ? 1 + (stream.channels ?? 0) : 0,
      rank(stream.disposition?.dub !== 1),
    ],
  );
}

/** Dispositions of audio that describes the video, comments on it, or lacks voices. */
const SPECIAL_AUDIO = "visual_impaired hearing_impaired descriptions comment clean_effects karaoke".split(" ");

const isDefault = ({ disposition }: ProbedStream): boolean => disposition?.default === 1;
const rank = (holds: boolean): number => (holds ? 1 : 0);

/** The first stream with the highest score; scores are compared number by number. */
function best(streams: readonly ProbedStream[], scores: (stream: ProbedStream) => number[]): ProbedStream | undefined {
  const ordered = streams
    .map((stream) => ({ stream, score: scores(stream) }))
    .toSorted((a, b) => compare(b.score, a.score));
  return ordered[0]?.stream;
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

const DECODERS: ReadonlySet<string> = new Set(ALLOWED_DECODERS.split(","));

/** Sample entries of encrypted tracks: of Common Encryption (ISO/IEC 23001-7 §4.2), and of older FairPlay files. */
const ENCRYPTED_ENTRIES: ReadonlySet<string> = new Set(["encv", "enca", "drmi", "drms"]);

/** True if the packets of a stream are encrypted. In Matroska (`ContentEncryption`), a tag holds the id of the key. */
export const isEncrypted = ({ codec_tag_string = "", tags }: ProbedStream): boolean =>
  ENCRYPTED_ENTRIES.has(codec_tag_string) || tags?.enc_key_id !== undefined;

/** Why a stream cannot be decoded. */
export type Undecodable = {
  readonly code: "input_encrypted" | "input_codec_not_supported" | "input_has_no_audio";
  /** A sentence without a period. */
  readonly reason: string;
  /** What the client can do; follows a semicolon. */
  readonly remedy: string;
};

/**
 * Why a stream cannot be decoded, according to its probe; null if it can. ffprobe exits at a decoder that is not
 * allowed. So a stream that it describes without a sample format, and with a codec that no allowed decoder has, has no
 * decoder.
 */
export function undecodable(stream: ProbedStream): Undecodable | null {
  const { codec_name, codec_type, pix_fmt, sample_fmt } = stream;
  const kind = codec_type === "audio" ? "audio" : "video";
  // Demuxers drop the packets of scrambled tracks, which then look empty.
  if (isEncrypted(stream)) {
    const reason = `The input's ${kind} is encrypted`;
    return { code: "input_encrypted", reason, remedy: "use an input without encryption or DRM" };
  }
  if (stream.empty) {
    const reason = `The input announces ${kind} without any data`;
    return { code: "input_has_no_audio", reason, remedy: "use an input that has audio" };
  }
  const dolby = baselessDolbyVision(stream);
  if (dolby !== null) {
    const reason = `The input's video is Dolby Vision profile ${dolby}, whose colors only Dolby decoders support`;
    return {
      code: "input_codec_not_supported",
      reason,
      remedy: "export it as HDR10, HLG or Dolby Vision profile 8 first",
    };
  }
  const hasFormat = (codec_type === "audio" ? sample_fmt : pix_fmt) !== undefined;
  if (codec_name !== undefined && (hasFormat || DECODERS.has(codec_name))) return null;
  const name = codecOf(stream);
  const reason = `The input's ${kind} ${name === null ? "has an unknown codec" : `is ${name}`}, which cannot be decoded`;
  return { code: "input_codec_not_supported", reason, remedy: "convert it to a common codec first" };
}

/**
 * The Dolby Vision profile of a stream whose base layer has proprietary colors (IPT): compatibility 0 of profiles 5 and
 * 10. Decoded frames would be green and purple. Null for all other streams, whose base layer can be used.
 */
function baselessDolbyVision({ side_data_list = [] }: ProbedStream): number | null {
  const record = side_data_list.find(({ dv_profile }) => typeof dv_profile === "number");
  const profile = Number(record?.dv_profile);
  return record?.dv_bl_signal_compatibility_id === 0 && BASELESS_PROFILES.has(profile) ? profile : null;
}

const BASELESS_PROFILES: ReadonlySet<number> = new Set([5, 10]);

export const undecodableFailure = ({ code, reason, remedy }: Undecodable): Failure => ({
  code,
  message: `${reason}; ${remedy}.`,
});

/** ffprobe's name of the codec, else the FourCC of the container (`vvc1`); null if neither is known. */
function codecOf({ codec_name, codec_tag_string = "" }: ProbedStream): string | null {
  return codec_name ?? (/^[\w. -]+$/.test(codec_tag_string) ? codec_tag_string.trim() : null);
}
