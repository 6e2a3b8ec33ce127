// ffmpeg's muxer for each container, with its options for indexes, fragments, tags and chapters.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoFormat } from "../../format/format-spec.ts";

type Muxer = {
  readonly name: string;
  /** Extension of the file in the working folder. */
  readonly extension: string;
  readonly options?: readonly string[];
};

/**
 * Without `-write_tmcd 0` the muxer would turn a time code tag into an additional track. Edit lists state late starts
 * in units of `movie_timescale`, by default milliseconds.
 */
const iso = (name: string, extension: string): Muxer => ({
  name,
  extension,
  options: ["-write_tmcd", "0", "-movie_timescale", "48000"],
});

const MUXERS: Readonly<Record<TrackContainer, Muxer>> = {
  mp4: iso("mp4", "mp4"),
  mov: iso("mov", "mov"),
  m4a: iso("ipod", "m4a"),
  "3gp": iso("3gp", "3gp"),
  // The index comes first, so that players can seek before they have the whole file.
  webm: { name: "webm", extension: "webm", options: ["-cues_to_front", "1"] },
  mkv: { name: "matroska", extension: "mkv" },
  mpegts: { name: "mpegts", extension: "ts" },
  avi: { name: "avi", extension: "avi" },
  asf: { name: "asf", extension: "asf" },
  // An index of keyframes, for the same reason.
  flv: { name: "flv", extension: "flv", options: ["-flvflags", "add_keyframe_index"] },
  ogv: { name: "ogv", extension: "ogv" },
  ogg: { name: "ogg", extension: "ogg" },
  // Older players do not read version 2.4 of ID3.
  mp3: { name: "mp3", extension: "mp3", options: ["-id3v2_version", "3"] },
  aac: { name: "adts", extension: "aac" },
  wav: { name: "wav", extension: "wav" },
  flac: { name: "flac", extension: "flac" },
  opus: { name: "opus", extension: "opus" },
};

/** Files in the ISO base media file format. */
export const ISO: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "m4a", "3gp"]);

/** Name of an output's file in the working folder. */
export const fileName = (output: number, container: TrackContainer): string =>
  `${output}.${MUXERS[container].extension}`;

/**
 * Length of a fragment of audio, because audio has no keyframes that could start a fragment. 2 s, in µs, is the length
 * of fragments in streams.
 */
const AUDIO_FRAGMENT_US = "2000000";

type FileFormat = Pick<VideoFormat, "container" | "fragmented" | "keepsMetadata"> & {
  readonly video: VideoFormat["video"];
  /** Leaves the index of an ISO file at its end. The upload moves the index to the front (growing-file.ts). */
  readonly indexAtEnd?: boolean;
  /** The input with the chapters; left out: none. */
  readonly chapters?: string;
};

/** ffmpeg's options for a file, followed by its name. */
export function fileArguments(format: FileFormat, file: string): string[] {
  const { container, chapters = "-1" } = format;
  const { name, options = [] } = MUXERS[container];
  return [
    // Chapters of the source would be in every output, whatever part it shows.
    ...["-map_chapters", chapters, ...tagArguments(format)],
    ...(ISO.has(container) ? movFlags(format) : []),
    ...[...options, "-f", name, file],
  ];
}

function movFlags({ fragmented, video, indexAtEnd = false }: FileFormat): string[] {
  if (!fragmented) return indexAtEnd ? [] : ["-movflags", "+faststart"];
  // The header waits for the first fragment, so that its edit lists can state the delay of each track's first sample.
  const common = "+empty_moov+default_base_moof+delay_moov";
  return video ? ["-movflags", `+frag_keyframe${common}`] : ["-movflags", common, "-frag_duration", AUDIO_FRAGMENT_US];
}

/** ISO files state their brands in their header. ffmpeg mistakes the brands for tags of the source. */
const BRANDS = ["major_brand", "minor_version", "compatible_brands"].flatMap((tag) => ["-metadata", `${tag}=`]);

/** Options for tags. ISO files keep no brands as tags. `bitexact` leaves out the names of ffmpeg's libraries. */
function tagArguments({ keepsMetadata, container }: FileFormat): string[] {
  if (keepsMetadata) return ISO.has(container) ? [] : BRANDS;
  return ["-map_metadata", "-1", "-map_metadata:s", "-1", "-fflags", "+bitexact", "-flags", "+bitexact"];
}

/**
 * Options that codecs need in some containers. Until ffmpeg 6, FLAC in MP4 counted as experimental. `codec`: codec of
 * the audio, encoded or copied.
 */
export const strictArguments = (container: TrackContainer, codec: string | null): string[] =>
  container === "mp4" && codec === "flac" ? ["-strict", "experimental"] : [];
