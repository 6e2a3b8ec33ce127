// What was likely meant by a word that the format grammar does not know. Pure; each answer is part of a sentence.
import { nearest } from "../nearest.ts";
import { CONTAINERS_BY_NAME } from "./containers.ts";

/** Words of the grammar that take the place of others, by pattern; a replacement may use the pattern's groups. */
type Slips = readonly (readonly [RegExp, string])[];

const CONTAINER_SLIPS: Slips = [
  [/^(?:m4v|mpeg-?4|video|mp4a)$/, "mp4"],
  [/^(?:ts|m2ts|mts|mpeg-?ts)$/, "mpegts"],
  [/^matroska$/, "mkv"],
  [/^(?:quicktime|qt)$/, "mov"],
  [/^(?:thumbs?|thumbnails?|images?|posters?|pictures?|screenshots?)$/, "jpg"],
  [/^(?:audio|mpga)$/, "mp3"],
  [/^(?:video|audio|image)\/(\w+)$/, "$1"],
  [/^\.(\w+)$/, "$1"],
];

const VIDEO_SLIPS: Slips = [
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

const AUDIO_SLIPS: Slips = [
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

const SLIPS = { video: VIDEO_SLIPS, audio: AUDIO_SLIPS, size: VIDEO_SLIPS, options: [] } as const;

/** Words to compare another one with, and whether a word is one of the grammar, of which there are more. */
export type Vocabulary = { readonly known: readonly string[]; readonly fits: (word: string) => boolean };

/** What may be meant by a word of a segment: by common slips, by letters in place of digits, by the nearest word. */
export function meantByToken(kind: keyof typeof SLIPS, token: string, { known, fits }: Vocabulary): string | null {
  const word = token.toLowerCase();
  const digits = word.replaceAll("o", "0").replaceAll(/[il]/g, "1");
  if (/\d/.test(word) && digits !== word && fits(digits)) {
    return `\`${digits}\`${word.includes("o") ? " (with the digit 0, not the letter O)" : " (with the digit 1)"}`;
  }
  const slip = replaced(word, SLIPS[kind]);
  const meant = slip !== null && fits(slip) ? slip : nearest(word, known);
  return meant === null ? null : `\`${meant}\``;
}

function replaced(word: string, slips: Slips): string | null {
  const [pattern, by = ""] = slips.find(([slip]) => slip.test(word)) ?? [];
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

/** What is said of a format's first word where that is no container; ends without a full stop. */
export function containerHint(name: string, isVideoWord: boolean): string | null {
  const word = name.toLowerCase();
  if (STREAMS.has(word)) {
    return 'for HLS or DASH the output is `httpstream`, such as `{"httpstream":{"dash":{"path":"dash"}}}`';
  }
  if (isVideoWord) return `a format begins with its container, such as \`mp4:${name}\``;
  const slip = replaced(word, CONTAINER_SLIPS);
  const meant = slip !== null && CONTAINERS_BY_NAME.has(slip) ? slip : null;
  const near = meant ?? nearest(word, ["httpstream", ...CONTAINERS_BY_NAME.keys()]);
  return near === null ? null : `did you mean \`${near}\`?`;
}
