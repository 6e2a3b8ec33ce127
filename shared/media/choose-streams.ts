// Which stream of each kind a source is taken for, where it has several; everything that looks at a source asks here.
import type { Failure } from "../errors.ts";
import { ALLOWED_DECODERS } from "./decoders.ts";
import type { ProbedStream } from "./media-probe.ts";

/** A video stream with a picture that moves: cover art is a video stream too, with the disposition `attached_pic`. */
export function isMovingPicture(stream: ProbedStream): boolean {
  return stream.codec_type === "video" && !!stream.width && !!stream.height && stream.disposition?.attached_pic !== 1;
}

/** What the disposition `default` weighs in ffmpeg's choice, in pixels (`map_auto_video` of ffmpeg_mux_init.c). */
const DEFAULT_PIXELS = 5_000_000;

/**
 * The video stream that ffmpeg takes by itself: the largest, where the disposition `default` weighs as much as five million
 * pixels; of equal ones the first. Cover art is none. One that can be decoded comes before all that cannot.
 */
export const chosenVideo = (streams: readonly ProbedStream[]): ProbedStream | undefined =>
  best(streams.filter(isMovingPicture), (stream) => [
    rank(undecodable(stream) === null),
    (stream.width ?? 0) * (stream.height ?? 0) + (isDefault(stream) ? DEFAULT_PIXELS : 0),
  ]);

/** The audio stream that is marked as default, else the first; of several default ones that with most channels. */
export const chosenAudio = (streams: readonly ProbedStream[]): ProbedStream | undefined =>
  best(
    streams.filter(({ codec_type }) => codec_type === "audio"),
    (stream) => [rank(undecodable(stream) === null), isDefault(stream) ? 1 + (stream.channels ?? 0) : 0],
  );

const isDefault = ({ disposition }: ProbedStream): boolean => disposition?.default === 1;
const rank = (holds: boolean): number => (holds ? 1 : 0);

/** The first of those that score highest, by the first number that differs. */
function best(streams: readonly ProbedStream[], scores: (stream: ProbedStream) => number[]): ProbedStream | undefined {
  const ordered = streams
    .map((stream) => ({ stream, score: scores(stream) }))
    .toSorted((a, b) => compare(b.score, a.score));
  return ordered[0]?.stream;
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

const DECODERS: ReadonlySet<string> = new Set(ALLOWED_DECODERS.split(","));

/** Sample entries of encrypted tracks: of Common Encryption (ISO/IEC 23001-7 §4.2), and of FairPlay's older files. */
const ENCRYPTED_ENTRIES: ReadonlySet<string> = new Set(["encv", "enca", "drmi", "drms"]);

/** Whether a stream's packets are encrypted. Matroska's (`ContentEncryption`) have a tag with the key's id. */
export const isEncrypted = ({ codec_tag_string = "", tags }: ProbedStream): boolean =>
  ENCRYPTED_ENTRIES.has(codec_tag_string) || tags?.enc_key_id !== undefined;

/** Why a stream cannot be decoded. */
export type Undecodable = {
  readonly code: "input_encrypted" | "input_codec_not_supported";
  /** A sentence without its end. */
  readonly reason: string;
  /** What the client can do; goes on behind a semicolon. */
  readonly remedy: string;
};

/**
 * Why a stream cannot be decoded, as far as its probe shows that; null when it can. ffprobe ends at a decoder that is not
 * allowed, so what it describes without a format of samples, under a name that no allowed decoder has, has no decoder.
 */
export function undecodable(stream: ProbedStream): Undecodable | null {
  const { codec_name, codec_type, pix_fmt, sample_fmt } = stream;
  const kind = codec_type === "audio" ? "audio" : "video";
  if (isEncrypted(stream)) {
    const reason = `The input's ${kind} is encrypted`;
    return { code: "input_encrypted", reason, remedy: "send the input without encryption or DRM" };
  }
  const dolby = baselessDolbyVision(stream);
  if (dolby !== null) {
    const reason = `The input's video is Dolby Vision profile ${dolby}, whose colours only Dolby's decoders know`;
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
 * The profile of Dolby Vision whose base layer is in colours of its own (IPT): compatibility 0 of Dolby's profiles 5 and 10.
 * Its pictures would come out in green and purple. Null for all else, which is taken for its base layer.
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

/** By ffprobe's name, else by the four characters of the container (`vvc1`); null when nothing names it. */
function codecOf({ codec_name, codec_tag_string = "" }: ProbedStream): string | null {
  return codec_name ?? (/^[\w. -]+$/.test(codec_tag_string) ? codec_tag_string.trim() : null);
}
