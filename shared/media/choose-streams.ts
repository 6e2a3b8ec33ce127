// Chooses the video stream and the audio stream of a source that has several. All code uses this choice.
import type { Failure } from "../errors.ts";
import { ALLOWED_DECODERS } from "./decoders.ts";
import { matchesLanguage } from "./languages.ts";
import type { ProbedStream } from "./media-probe.ts";

/**
 * True if a stream is video, has packets, and is not cover art. Cover art is a video stream with the disposition
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

/** Weight in pixels of the disposition `default` in ffmpeg's choice (`map_auto_video` in ffmpeg_mux_init.c). */
const DEFAULT_PIXELS = 5_000_000;

/**
 * Returns the video stream that ffmpeg chooses by default: the largest stream, or the first of equals. The disposition
 * `default` counts as five million pixels. Never returns cover art. Decodable streams take precedence over all others.
 */
export const chosenVideo = (streams: readonly ProbedStream[]): ProbedStream | undefined =>
  best(streams.filter(isMotionVideo), (stream) => [
    rank(undecodable(stream) === null),
    (stream.width ?? 0) * (stream.height ?? 0) + (isDefault(stream) ? DEFAULT_PIXELS : 0),
  ]);

/**
 * Returns the audio stream with the disposition `default`, else the first. Of several default streams, returns the
 * stream with the most channels. Audio of the chosen video's program takes precedence over all other audio, and the
 * main audio over audio for a part of the audience.
 */
export function chosenAudio(streams: readonly ProbedStream[]): ProbedStream | undefined {
  const programs = chosenVideo(streams)?.programs ?? [];
  return best(
    streams.filter(({ codec_type }) => codec_type === "audio"),
    (stream) => [
      rank(stream.programs?.some((program) => programs.includes(program)) ?? false),
      rank(undecodable(stream) === null),
      ...preference(stream),
    ],
  );
}

/**
 * Scores of an audio or subtitle track: all lines before forced lines, main before special tracks, then the default.
 */
export const preference = (stream: ProbedStream): number[] => [
  rank(stream.disposition?.forced !== 1),
  rank(!SPECIAL.some((disposition) => stream.disposition?.[disposition] === 1)),
  isDefault(stream) ? 1 + (stream.channels ?? 0) : 0,
  rank(stream.disposition?.dub !== 1),
];

/** Returns the preferred track in a language: usable tracks come before all others. */
export const bestInLanguage = <Track extends { readonly language: string; readonly preference: readonly number[] }>(
  language: string,
  tracks: readonly Track[],
  isUsable: (track: Track) => boolean,
): Track | undefined =>
  best(
    tracks.filter((track) => matchesLanguage(language, track.language)),
    (track) => [rank(isUsable(track)), ...track.preference],
  );

/** Dispositions of tracks that describe the video or its audio, comment on it, or lack voices. */
const SPECIAL = "visual_impaired hearing_impaired captions descriptions comment clean_effects karaoke".split(" ");

const isDefault = ({ disposition }: ProbedStream): boolean => disposition?.default === 1;
const rank = (holds: boolean): number => (holds ? 1 : 0);

/** Returns the first item with the highest score. Compares scores number by number. */
const best = <Item>(items: readonly Item[], scores: (item: Item) => readonly number[]): Item | undefined =>
  items
    .map((item) => ({ item, score: scores(item) }))
    .toSorted((a, b) => compare(b.score, a.score))
    .at(0)?.item;

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

const DECODERS: ReadonlySet<string> = new Set(ALLOWED_DECODERS.split(","));

/** Sample entries of encrypted tracks: Common Encryption (ISO/IEC 23001-7 §4.2), and older FairPlay files. */
const ENCRYPTED_ENTRIES: ReadonlySet<string> = new Set(["encv", "enca", "drmi", "drms"]);

/** True if the packets of a stream are encrypted. In Matroska (`ContentEncryption`), a tag holds the id of the key. */
export const isEncrypted = ({ codec_tag_string = "", tags }: ProbedStream): boolean =>
  ENCRYPTED_ENTRIES.has(codec_tag_string) || tags?.enc_key_id !== undefined;

/** Reason why a stream cannot be decoded. */
export type Undecodable = {
  readonly code: "input_encrypted" | "input_codec_not_supported" | "input_has_no_audio";
  /** A sentence without a period. */
  readonly reason: string;
  /** Advice for the client; follows a semicolon. */
  readonly remedy: string;
};

/**
 * Returns the reason why a stream cannot be decoded, according to its probe; null if it can be decoded. ffprobe exits
 * at a decoder that is not allowed. So a stream in its output has no decoder if its sample format is missing and no
 * allowed decoder has its codec.
 */
export function undecodable(stream: ProbedStream): Undecodable | null {
  const { codec_name, codec_type, pix_fmt, sample_fmt } = stream;
  const kind = codec_type === "audio" ? "audio" : "video";
  // Demuxers drop the packets of scrambled tracks, which then seem empty.
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
 * Returns the Dolby Vision profile of a stream whose base layer has proprietary colors (IPT): compatibility 0 of
 * profiles 5 and 10. Its decoded frames would be green and purple. Null for all other streams, because their base layer
 * is usable.
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

/** Returns ffprobe's name of the codec, else the container's FourCC (`vvc1`); null if neither is known. */
function codecOf({ codec_name, codec_tag_string = "" }: ProbedStream): string | null {
  return codec_name ?? (/^[\w. -]+$/.test(codec_tag_string) ? codec_tag_string.trim() : null);
}
