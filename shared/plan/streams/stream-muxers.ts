// Writes the tracks of a stream as fragmented MP4, as segments of MPEG-TS, or as both with a single encode.
import { strictArguments } from "../command/muxers.ts";
import type { TrackKind } from "../source/source-tracks.ts";
import { STREAM_START_SECONDS } from "./planned-stream.ts";

type Muxer = { readonly name: string; readonly options: readonly (readonly [name: string, value: string])[] };

/** Only this offset shifts the times of a track, so that they have the same meaning in all tracks and packages. */
const TIMES = [
  ["output_ts_offset", String(STREAM_START_SECONDS)],
  ["avoid_negative_ts", "disabled"],
] as const;

/**
 * Length of a fragment of audio, because audio has no keyframes that could start a fragment. Half a second, in µs:
 * segments end within half of that.
 */
const AUDIO_FRAGMENT_US = "500000";

/**
 * ffmpeg's own default, in µs, which `tee` does not pass on. A packet of MPEG-TS holds audio of half this length.
 * Without it each audio frame has its own packet, and 64 kbit/s become 137.
 */
const MAX_DELAY_US = "700000";

/**
 * Fragments start at keyframes. `frag_discont` keeps their times as they are. Without edit lists nothing else shifts
 * them: players treat edit lists differently.
 */
const FRAGMENTED: Muxer = {
  name: "mp4",
  options: [
    ["movflags", "+frag_keyframe+empty_moov+default_base_moof+frag_discont"],
    ["use_editlist", "0"],
    ["write_tmcd", "0"],
    // The packager sees each fragment as soon as it is written.
    ["flush_packets", "1"],
    ...TIMES,
  ],
};

const segmented = (segmentMs: number, name: string): Muxer => ({
  name: "hls",
  options: [
    ["hls_time", String(segmentMs / 1000)],
    // Rewritten after each segment, which gets its name only when it is complete.
    ["hls_playlist_type", "event"],
    ["hls_flags", "temp_file"],
    ["hls_segment_type", "mpegts"],
    ["hls_segment_filename", `${name}-%05d.ts`],
    // Otherwise the muxer adds twice the delay to all times.
    ["hls_segment_options", "mpegts_copyts=1"],
    ["max_delay", MAX_DELAY_US],
    ...TIMES,
  ],
});

export type StreamFiles = { readonly fmp4: string | null; readonly ts: string | null };

/** Files of a track in the working folder. `name` is unique there. */
export const streamFiles = (name: string, wants: { readonly fmp4: boolean; readonly ts: boolean }): StreamFiles => ({
  fmp4: wants.fmp4 ? `${name}.mp4` : null,
  ts: wants.ts ? `${name}.m3u8` : null,
});

/** Codecs whose headers the muxer of MP4 derives from their first packet, so that it must not write `moov` before. */
const DESCRIBED_BY_PACKETS: readonly (string | null)[] = ["ac3", "eac3"];

function fragmented(kind: TrackKind, codec: string | null): Muxer {
  const [flags, ...options] = FRAGMENTED.options;
  const delayed = DESCRIBED_BY_PACKETS.includes(codec) ? "+delay_moov" : "";
  return {
    ...FRAGMENTED,
    options: [
      ...(flags ? [[flags[0], `${flags[1]}${delayed}`] as const] : []),
      ...options,
      ...(kind === "audio" ? [["frag_duration", AUDIO_FRAGMENT_US] as const] : []),
      ...(strictArguments("mp4", codec).length > 0 ? [["strict", "experimental"] as const] : []),
    ],
  };
}

/**
 * ffmpeg's options for the files of a track. If there are two, `tee` writes both with a single encode. `codec`:
 * ffprobe's name of an audio codec.
 */
export function streamArguments(
  { fmp4, ts }: StreamFiles,
  kind: TrackKind,
  segmentMs: number,
  codec: string | null = null,
): string[] {
  const files = [
    ...(fmp4 === null ? [] : [{ file: fmp4, ...fragmented(kind, codec) }]),
    ...(ts === null ? [] : [{ file: ts, ...segmented(segmentMs, ts.replace(/\.m3u8$/, "")) }]),
  ];
  const [only, ...more] = files;
  if (!only) throw new Error("A track of a stream has no file");
  const withoutTags = ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"];
  if (more.length === 0) {
    return [
      ...[...withoutTags, "-flags", "+bitexact", ...only.options.flatMap(([name, value]) => [`-${name}`, value])],
      ...["-f", only.name, only.file],
    ];
  }
  const slaves = files.map(({ file, name, options }) => {
    const all = [["f", name], ...options].map(([option, value]) => `${option}=${value}`);
    return `[${all.join(":")}]${file}`;
  });
  // MP4 needs parameter sets in its header. The other muxer puts them before keyframes again.
  return [...withoutTags, "-flags", "+bitexact+global_header", "-f", "tee", slaves.join("|")];
}
