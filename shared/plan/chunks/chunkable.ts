// Which outputs can be encoded in chunks: those that then are the same as in one piece.
import { assertNever } from "../../errors.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { HttpStreamOutput, OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { EncodedVideo } from "../encoders/video-encoders.ts";
import { planOutput } from "../plan-encode.ts";
import { isEncodedVideo } from "../plan-file.ts";
import type { AudioTrack, SourceTracks } from "../source/source-tracks.ts";
import { SPLIT_GRID_MS } from "./chunked-source.ts";

/** Codecs whose chunks, one behind the other, are one track of fragmented MP4. */
const CODECS: ReadonlySet<EncodedVideo["codec"]> = new Set(["h264", "hevc", "vp9", "av1"]);

/** Containers that hold the same frames at the same times when such a track is copied into them. */
const CONTAINERS: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp", "flv", "avi"]);

/** Sound that comes out of the file in which it waits for the picture as it went in. */
const SOUNDS: ReadonlySet<NonNullable<VideoOutput["audio"]>["codec"]> = new Set(
  "aac ac3 mp2 mp3 opus flac pcm-s16le".split(" ") as ("aac" | "ac3" | "mp2" | "mp3" | "opus" | "flac" | "pcm-s16le")[],
);
/** Containers whose own kind the sound waits in; for others it waits in MP4, which cannot hold all of these codecs. */
const OWN_KIND: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm"]);
/** MP3 of lower sample rates has no place in MP4 (ISO 14496-3 knows MPEG-1 and MPEG-2 only). */
const MP3_FROM_HZ = 16_000;

/** The longest chunk that is a whole multiple of a grid. */
const MAX_GRID_MS = 60_000;

/** Why an output is encoded in one piece; completes "It is not encoded in chunks because …". Null: it can be chunked. */
export function unchunkableReason(spec: OutputSpec, source: SourceTracks, can: FfmpegCapabilities): string | null {
  if (prerollOf(source.format, 0) === null)
    return `the input's format (${source.format}) cannot be read from its middle`;
  switch (spec.type) {
    case "image":
      return "it is made of single pictures";
    case "httpstream":
      return whyNotStream(spec, source) ?? refusal(spec, source, can);
    case "video":
      return whyNotFilm(spec, source) ?? refusal(spec, source, can);
    default:
      return assertNever(spec);
  }
}

/** What cannot be made at all says so when it is tried in one piece. */
function refusal(spec: OutputSpec, source: SourceTracks, can: FfmpegCapabilities): string | null {
  const result = planOutput(spec, source, can);
  return result.ok ? null : "it cannot be made of this input";
}

function whyNotFilm(
  { video, audio, container, offsetMs, durationMs }: VideoOutput,
  source: SourceTracks,
): string | null {
  if (!video || !source.video) return "it has no picture";
  if (!isEncodedVideo(video)) return "its picture is copied";
  if (!CODECS.has(video.codec)) return `${video.codec} is not put together from chunks`;
  if (video.twoPass) return "it is encoded in two passes";
  if (offsetMs > 0 || durationMs !== null) return "it is a part of the input";
  if (!CONTAINERS.has(container)) return `${container} is not written from chunks`;
  if (source.audio && !audio && source.format === "mpegts" && source.video.startMs > source.audio.startMs) {
    return "its times depend on whether the sound of the MPEG-TS is read";
  }
  return audio && source.audio ? whyNotSound(audio, container, source.audio) : null;
}

function whyNotSound(
  spec: NonNullable<VideoOutput["audio"]>,
  container: TrackContainer,
  { sampleRateHz }: AudioTrack,
): string | null {
  if (spec.codec === "copy") return "its sound is copied";
  const isHeld = SOUNDS.has(spec.codec) && (OWN_KIND.has(container) || spec.codec !== "pcm-s16le");
  if (!isHeld) return `${spec.codec} sound is not added to chunks`;
  const hz = spec.sampleRateHz ?? sampleRateHz;
  return spec.codec === "mp3" && (hz === null || hz < MP3_FROM_HZ) ? "its sound has a low sample rate" : null;
}

function whyNotStream(spec: HttpStreamOutput, source: SourceTracks): string | null {
  if (!source.video || spec.variants.every(({ video }) => video === null)) return "it has no picture";
  return chunkGridMs([spec]) === null ? "its segments and the keyframes in them have no common beat with chunks" : null;
}

/**
 * What the lengths of chunks are multiples of, so that the outputs' segments never lie across a cut; null: there is nothing
 * of up to a minute.
 */
export function chunkGridMs(outputs: readonly OutputSpec[]): number | null {
  const segments = outputs.flatMap((spec) => (spec.type === "httpstream" ? [spec.segmentDurationMs] : []));
  if (!segments.every(Number.isInteger)) return null;
  const grid = segments.reduce((common, segment) => (common / gcd(common, segment)) * segment, SPLIT_GRID_MS);
  return grid <= MAX_GRID_MS ? grid : null;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Demuxers, by ffprobe's names, that find a keyframe at or before a time by an index. */
const INDEXED: ReadonlySet<string> = new Set(["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"]);
const INDEXED_MARGIN_MS = 1000;
const TS_LEAST_MS = 10_000;

/**
 * How long before a chunk decoding begins, in ms; null: ffmpeg cannot begin within such a file. With an index it begins at the
 * keyframe before; a picture that recovers over many frames is whole by the next one. Without one it lands anywhere.
 */
export function prerollOf(format: string, longestGopMs: number): number | null {
  if (INDEXED.has(format)) return longestGopMs + INDEXED_MARGIN_MS;
  return format === "mpegts" ? Math.max(TS_LEAST_MS, 2 * longestGopMs + INDEXED_MARGIN_MS) : null;
}
