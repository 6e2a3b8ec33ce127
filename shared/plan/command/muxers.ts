// How each container is written: ffmpeg's muxer and its options, and what becomes of tags and chapters.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoFormat } from "../../format/format-spec.ts";

type Muxer = {
  readonly name: string;
  /** Of the file in the working folder. */
  readonly extension: string;
  readonly options?: readonly string[];
};

/** A track of time codes, which the muxer would make of a tag, is a stream that nobody asked for. */
const iso = (name: string, extension: string): Muxer => ({ name, extension, options: ["-write_tmcd", "0"] });

const MUXERS: Readonly<Record<TrackContainer, Muxer>> = {
  mp4: iso("mp4", "mp4"),
  mov: iso("mov", "mov"),
  m4a: iso("ipod", "m4a"),
  "3gp": iso("3gp", "3gp"),
  // The index before the pictures, so that players can jump before they have all of the file.
  webm: { name: "webm", extension: "webm", options: ["-cues_to_front", "1"] },
  mkv: { name: "matroska", extension: "mkv" },
  mpegts: { name: "mpegts", extension: "ts" },
  avi: { name: "avi", extension: "avi" },
  asf: { name: "asf", extension: "asf" },
  // Likewise an index, of keyframes.
  flv: { name: "flv", extension: "flv", options: ["-flvflags", "add_keyframe_index"] },
  ogv: { name: "ogv", extension: "ogv" },
  ogg: { name: "ogg", extension: "ogg" },
  // Version 2.3: older players know no 2.4.
  mp3: { name: "mp3", extension: "mp3", options: ["-id3v2_version", "3"] },
  aac: { name: "adts", extension: "aac" },
  wav: { name: "wav", extension: "wav" },
  flac: { name: "flac", extension: "flac" },
  opus: { name: "opus", extension: "opus" },
};

const ISO: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "m4a", "3gp"]);

/** Name of the file in the working folder. */
export const fileName = (output: number, container: TrackContainer): string =>
  `${output}.${MUXERS[container].extension}`;

/** Sound has no keyframes to begin fragments at: 2 s, in µs, is what segments of streams have. */
const SOUND_FRAGMENT_US = "2000000";

/** ffmpeg's options for the file, its name last. */
export function fileArguments(output: number, format: VideoFormat): string[] {
  const { container } = format;
  const { name, options = [] } = MUXERS[container];
  return [
    // Chapters would become a text track of their own.
    ...["-map_chapters", "-1", ...tagArguments(format)],
    ...(ISO.has(container) ? movFlags(format) : []),
    ...[...options, "-f", name, fileName(output, container)],
  ];
}

function movFlags({ fragmented, video }: VideoFormat): string[] {
  if (!fragmented) return ["-movflags", "+faststart"];
  // The header waits for the first fragment, so that its edit lists can say how late each track's first sample is.
  const whole = "+empty_moov+default_base_moof+delay_moov";
  return video ? ["-movflags", `+frag_keyframe${whole}`] : ["-movflags", whole, "-frag_duration", SOUND_FRAGMENT_US];
}

/** What ISO files say of themselves; ffmpeg takes it for tags of the film. */
const BRANDS = ["major_brand", "minor_version", "compatible_brands"].flatMap((tag) => ["-metadata", `${tag}=`]);

/** ISO files keep no such tags. `bitexact` leaves out the names of ffmpeg's libraries. */
function tagArguments({ keepsMetadata, container }: VideoFormat): string[] {
  if (keepsMetadata) return ISO.has(container) ? [] : BRANDS;
  return ["-map_metadata", "-1", "-map_metadata:s", "-1", "-fflags", "+bitexact", "-flags", "+bitexact"];
}
