// How the tracks of a stream are written: fragmented MP4, segments of MPEG-TS, or both of one encode.
import type { TrackKind } from "../command/output-plan.ts";
import { STREAM_START_SECONDS } from "./planned-stream.ts";

type Muxer = { readonly name: string; readonly options: readonly (readonly [name: string, value: string])[] };

/** Nothing but this offset moves the times of a track, so that they mean the same in all tracks and packages. */
const TIMES = [
  ["output_ts_offset", String(STREAM_START_SECONDS)],
  ["avoid_negative_ts", "disabled"],
] as const;

/** Sound has no keyframes to begin fragments at. Half a second, in µs: segments are cut to within half of that. */
const SOUND_FRAGMENT_US = "500000";

/**
 * ffmpeg's own default, in µs, which `tee` does not pass on: a packet of MPEG-TS holds half of that of sound. Without it
 * each frame has one to itself, and 64 kbit/s become 137.
 */
const SOUND_PACKET_US = "700000";

/**
 * Fragments begin at keyframes; `frag_discont` gives them their times as they are, and without edit lists nothing else
 * shifts them: players differ in what they make of those.
 */
const FRAGMENTED: Muxer = {
  name: "mp4",
  options: [
    ["movflags", "+frag_keyframe+empty_moov+default_base_moof+frag_discont"],
    ["use_editlist", "0"],
    ["write_tmcd", "0"],
    // What follows the file sees a fragment as soon as it is written.
    ["flush_packets", "1"],
    ...TIMES,
  ],
};

const segmented = (segmentMs: number, name: string): Muxer => ({
  name: "hls",
  options: [
    ["hls_time", String(segmentMs / 1000)],
    // Written anew after each segment, which has its name only when it is complete.
    ["hls_playlist_type", "event"],
    ["hls_flags", "temp_file"],
    ["hls_segment_type", "mpegts"],
    ["hls_segment_filename", `${name}-%05d.ts`],
    // Else the muxer adds twice the delay to all times.
    ["hls_segment_options", "mpegts_copyts=1"],
    ["max_delay", SOUND_PACKET_US],
    ...TIMES,
  ],
});

export type StreamFiles = { readonly fmp4: string | null; readonly ts: string | null };

/** The files of a track in the working folder; `name` is unique there. */
export const streamFiles = (name: string, wants: { readonly fmp4: boolean; readonly ts: boolean }): StreamFiles => ({
  fmp4: wants.fmp4 ? `${name}.mp4` : null,
  ts: wants.ts ? `${name}.m3u8` : null,
});

/** ffmpeg's options for the files of one track. Both of them come out of one encode by way of `tee`. */
export function streamArguments({ fmp4, ts }: StreamFiles, kind: TrackKind, segmentMs: number): string[] {
  const fragments: Muxer["options"] = kind === "audio" ? [["frag_duration", SOUND_FRAGMENT_US]] : [];
  const files = [
    ...(fmp4 === null ? [] : [{ file: fmp4, name: FRAGMENTED.name, options: [...FRAGMENTED.options, ...fragments] }]),
    ...(ts === null ? [] : [{ file: ts, ...segmented(segmentMs, ts.replace(/\.m3u8$/, "")) }]),
  ];
  const [only, ...more] = files;
  if (!only) throw new Error("A track is written nowhere");
  const plain = ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"];
  if (more.length === 0) {
    return [
      ...[...plain, "-flags", "+bitexact", ...only.options.flatMap(([name, value]) => [`-${name}`, value])],
      ...["-f", only.name, only.file],
    ];
  }
  const slaves = files.map(({ file, name, options }) => {
    const all = [["f", name], ...options].map(([option, value]) => `${option}=${value}`);
    return `[${all.join(":")}]${file}`;
  });
  // MP4 wants parameter sets in its header; the other muxer puts them back before keyframes.
  return [...plain, "-flags", "+bitexact+global_header", "-f", "tee", slaves.join("|")];
}
