// Suggestions for tokens that the format grammar does not contain, such as names from other tools.
import { nearest } from "../../nearest.ts";
import { CONTAINERS_BY_NAME } from "../containers.ts";

/** Patterns of common mistakes with the correct token, which may refer to groups of the pattern. */
type Mistakes = readonly (readonly [RegExp, string])[];

const CONTAINER_MISTAKES: Mistakes = [
  [/^(?:m4v|mpeg-?4|video|mp4a)$/, "mp4"],
  [/^(?:ts|m2ts|mts|mpeg-?ts)$/, "mpegts"],
  [/^matroska$/, "mkv"],
  [/^(?:quicktime|qt)$/, "mov"],
  [/^(?:thumbs?|thumbnails?|images?|posters?|pictures?|screenshots?)$/, "jpg"],
  [/^(?:audio|mpga)$/, "mp3"],
  [/^(?:video|audio|image)\/(\w+)$/, "$1"],
  [/^\.(\w+)$/, "$1"],
];

const VIDEO_MISTAKES: Mistakes = [
  [/^(?:libx265|[hx]\.?265)$/, "hevc"],
  [/^(?:libx264|[hx]\.?264|avc1?)$/, "h264"],
  [/^libvpx$/, "vp8"],
  [/^libvpx-vp9$/, "vp9"],
  [/^(?:libsvtav1|libaom(?:-av1)?|librav1e)$/, "av1"],
  [/^mpeg-?2$/, "mpeg2video"],
  [/^mpeg-?4$/, "mpeg4"],
  [/^(?:4k|uhd|ultrahd)$/, "2160p"],
  [/^(?:2k|qhd)$/, "1440p"],
  [/^(?:fhd|fullhd|full-hd)$/, "1080p"],
  [/^hd$/, "720p"],
  [/^sd$/, "480p"],
  [/^(240|360|480|540|576|720|1080|1440|2160)$/, "$1p"],
  [/^(\d+)(?:\*|×|,|by|-)(\d+)$/, "$1x$2"],
  [/^(\d+\.\d+|15|2[45]|30|50|60) ?(?:hz|fps)?$/, "$1fps"],
  [/^(\d+)(?:kbps|kbits?|kb|kbit\/s|kb\/s)$/, "$1k"],
  [/^(\d{4,9})(?:bps)?$/, "thousandth"],
  [/^(\d+(?:\.\d+)?)(?:m|mb|mbps|mbits?|mbit\/s|mb\/s)$/, "thousandfold"],
];

const AUDIO_MISTAKES: Mistakes = [
  [/^(?:libfdk[-_]?aac|mp4a|he-?aac)$/, "aac"],
  [/^libmp3lame$/, "mp3"],
  [/^libopus$/, "opus"],
  [/^libvorbis$/, "vorbis"],
  [/^(?:1ch|1\.0)$/, "mono"],
  [/^(?:2ch|2\.0)$/, "stereo"],
  [/^(?:6ch|8ch|5\.1|7\.1|surround)$/, "multi"],
  [/^44\.1k?(?:hz)?$/, "44100hz"],
  [/^(8|16|24|32|48)khz$/, "$1000hz"],
  [/^(8000|11025|16000|22050|24000|32000|44100|48000)$/, "$1hz"],
  [/^(\d+)(?:kbps|kbits?|kb|kbit\/s|kb\/s)$/, "$1k"],
  [/^(\d{2,3})$/, "$1k"],
];

const MISTAKES = { video: VIDEO_MISTAKES, audio: AUDIO_MISTAKES, size: VIDEO_MISTAKES, none: [], options: [] } as const;

/**
 * Vocabulary of a segment. `known`: tokens to compare a misspelled token with. `fits`: true for a valid token, also
 * outside `known`.
 */
export type Vocabulary = { readonly known: readonly string[]; readonly fits: (word: string) => boolean };

/** Suggests a token: letters replaced by digits, the fix of a common mistake, or the most similar token. */
export function suggestToken(kind: keyof typeof MISTAKES, token: string, { known, fits }: Vocabulary): string | null {
  const word = token.toLowerCase();
  const digits = word.replaceAll("o", "0").replaceAll(/[il]/g, "1");
  if (/\d/.test(word) && digits !== word && fits(digits)) {
    return `\`${digits}\`${word.includes("o") ? " (with the digit 0, not the letter O)" : " (with the digit 1)"}`;
  }
  const corrected = correct(word, MISTAKES[kind]);
  const meant = corrected !== null && fits(corrected) ? corrected : nearest(word, known);
  return meant === null ? null : `\`${meant}\``;
}

function correct(word: string, mistakes: Mistakes): string | null {
  const [pattern, by = ""] = mistakes.find(([mistake]) => mistake.test(word)) ?? [];
  if (!pattern) return null;
  const [, number] = pattern.exec(word) ?? [];
  if (by === "thousandth") return `${Math.round(Number(number) / 1000)}k`;
  if (by === "thousandfold") return `${Math.round(Number(number) * 1000)}k`;
  return word.replace(pattern, by);
}

/** Names of streams and of their playlists. */
const STREAMS = new Set([
  "dash",
  "mpd",
  "mpeg-dash",
  "m3u8",
  "m3u",
  "cmaf",
  "abr",
  "stream",
  "hls+dash",
  "http-stream",
]);

/** Suggests a correction for the start of a format that is not a container; without a final period. */
export function suggestContainer(name: string, isVideoToken: boolean): string | null {
  const word = name.toLowerCase();
  if (STREAMS.has(word)) {
    return 'for HLS or DASH, use the output `httpstream`, such as `{"httpstream":{"dash":{"path":"dash"}}}`';
  }
  if (isVideoToken) return `a format starts with its container, such as \`mp4:${name}\``;
  const corrected = correct(word, CONTAINER_MISTAKES);
  const meant = corrected !== null && CONTAINERS_BY_NAME.has(corrected) ? corrected : null;
  const similar = meant ?? nearest(word, ["httpstream", ...CONTAINERS_BY_NAME.keys()]);
  return similar === null ? null : `did you mean \`${similar}\`?`;
}
