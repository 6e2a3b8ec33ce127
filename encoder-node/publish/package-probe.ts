// What ffprobe would say of a whole package, were it to play it: of each track by its first bytes, and by what was
// measured of its segments. Pure.
import type { MediaProbe, ProbedStream } from "#shared/media-probe.ts";
import type { StreamVariant } from "#shared/plan/planned-stream.ts";
import type { PackagedTrack } from "../package/segment.ts";
import type { MadeTrack } from "./track-feed.ts";

/** The names that ffprobe has for the formats. */
const FORMATS = {
  hls: { format_name: "hls", format_long_name: "Apple HTTP Live Streaming" },
  dash: { format_name: "dash", format_long_name: "Dynamic Adaptive Streaming over HTTP" },
} as const;

/** Of the variants only those count that the package has the tracks of. */
export function packageProbe(
  kind: keyof typeof FORMATS,
  tracks: readonly MadeTrack[],
  variants: readonly StreamVariant[],
): MediaProbe {
  const measured = tracks.map(measure);
  const start = Math.min(...measured.map((track) => track.start));
  const seconds = Math.max(...measured.map((track) => track.end)) - start;
  const bytes = measured.reduce((sum, track) => sum + track.bytes, 0);
  const names = new Set<string | null>([null, ...tracks.map(({ name }) => name)]);
  const programs = variants.filter(({ video, audio }) => names.has(video) && names.has(audio)).length;
  return {
    streams: tracks.flatMap((track, index) => trackStream(track, index)),
    format: {
      filename: "",
      nb_streams: tracks.length,
      nb_programs: programs,
      ...FORMATS[kind],
      start_time: start.toFixed(6),
      duration: seconds.toFixed(6),
      size: String(bytes),
      bit_rate: String(bitRate(bytes, seconds)),
      probe_score: 100,
    },
  };
}

function trackStream(track: MadeTrack, index: number): ProbedStream[] {
  const { start, end, bytes } = measure(track);
  const seconds = end - start;
  const lengths = {
    duration_ts: Math.round(seconds * track.timescale),
    duration: seconds.toFixed(6),
    bit_rate: String(bitRate(bytes, seconds)),
  };
  // Of one segment, or of a file that grows: neither is how many the track has.
  return track.probe.streams.slice(0, 1).map(({ nb_frames: _, ...stream }) => ({ ...stream, index, ...lengths }));
}

/** In seconds on the segments' own line. */
function measure({ segments, timescale }: PackagedTrack): { start: number; end: number; bytes: number } {
  const [first, last] = [segments[0], segments.at(-1)];
  if (!first || !last) throw new Error("A track without segments");
  const bytes = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { start: first.start / timescale, end: (last.start + last.duration) / timescale, bytes };
}

const bitRate = (bytes: number, seconds: number): number => (seconds > 0 ? Math.round((bytes * 8) / seconds) : 0);
