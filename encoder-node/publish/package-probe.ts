// The metadata of a whole package, in ffprobe's form. It is based on ffprobe's data on the first bytes of each track,
// and on the measured segments. Pure.
import { languageCode } from "#shared/media/languages.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack } from "../codecs/segment.ts";
import { bandwidthOf, targetSeconds } from "../package/bandwidth.ts";
import type { MadeTrack } from "./track-feed.ts";

/** ffprobe's names of the formats. */
const FORMATS = {
  hls: { format_name: "hls", format_long_name: "Apple HTTP Live Streaming" },
  dash: { format_name: "dash", format_long_name: "Dynamic Adaptive Streaming over HTTP" },
} as const;

/**
 * HLS has the tracks of each variant in turn. Audio that several variants share is listed with each of them. ffprobe
 * lists the tracks like this when segments hold video and audio together. Further audio tracks follow. DASH has each
 * track once. Each stream's tag `variant_bitrate` is the bandwidth that the playlist declares for its variant, or in
 * DASH for its representation.
 */
export function packageProbe(
  kind: keyof typeof FORMATS,
  tracks: readonly MadeTrack[],
  variants: readonly StreamVariant[],
): MediaProbe {
  const measured = tracks.map(measure);
  const start = Math.min(...measured.map((track) => track.start));
  const seconds = Math.max(...measured.map((track) => track.end)) - start;
  const bytes = measured.reduce((sum, track) => sum + track.bytes, 0);
  const ofVariants = variants.map((variant) => tracksOf(variant, tracks));
  const others = tracks.filter((track) => !ofVariants.some((group) => group.includes(track)));
  const variantTracks =
    kind === "hls" ? [...ofVariants, ...others.map((track) => [track])] : tracks.map((track) => [track]);
  const target = targetSeconds(tracks);
  const streams = variantTracks.flatMap((group) => {
    const peaks = group.map(({ segments, timescale }) => bandwidthOf(segments, timescale, target).peak);
    const tags = { variant_bitrate: String(peaks.reduce((sum, peak) => sum + peak, 0)) };
    return group.flatMap((track) => trackStreams(track, tags));
  });
  return {
    streams: streams.map((stream, index) => ({ ...stream, index })),
    format: {
      filename: "",
      nb_streams: streams.length,
      nb_programs: variants.length,
      ...FORMATS[kind],
      start_time: start.toFixed(6),
      duration: seconds.toFixed(6),
      size: String(bytes),
      bit_rate: String(bitRate(bytes, seconds)),
      probe_score: 100,
    },
  };
}

/** Returns the video track first. */
const tracksOf = ({ video, audio }: StreamVariant, tracks: readonly MadeTrack[]): MadeTrack[] =>
  [video, audio].flatMap((name) => tracks.find((track) => track.name === name) ?? []);

/** Returns two streams for a track whose segments hold video and audio. */
function trackStreams(track: MadeTrack, tags: Readonly<Record<string, string>>): ProbedStream[] {
  const { start, end, bytes } = measure(track);
  const seconds = end - start;
  const isMuxed = track.video !== null && track.audio !== null;
  const lengths = {
    duration_ts: Math.round(seconds * track.timescale),
    duration: seconds.toFixed(6),
    // If segments hold both video and audio, the share of each is unknown.
    ...(isMuxed ? {} : { bit_rate: String(bitRate(bytes, seconds)) }),
  };
  const streams = track.probe.streams.slice(0, isMuxed ? 2 : 1);
  // `nb_frames` counts the frames of a single segment or of a growing file, not of the whole track.
  const tag = track.rendition?.language ?? track.language;
  const language = tag === undefined ? {} : { language: languageCode(tag) };
  return streams.map(({ nb_frames: _, ...stream }) => ({
    ...stream,
    ...lengths,
    tags: { ...stream.tags, ...language, ...tags },
  }));
}

/** In seconds on the timeline of the segments. */
function measure({ segments, timescale }: PackagedTrack): { start: number; end: number; bytes: number } {
  const [first, last] = [segments[0], segments.at(-1)];
  if (!first || !last) throw new Error("The track has no segments");
  const bytes = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { start: first.start / timescale, end: (last.start + last.duration) / timescale, bytes };
}

const bitRate = (bytes: number, seconds: number): number => (seconds > 0 ? Math.round((bytes * 8) / seconds) : 0);
