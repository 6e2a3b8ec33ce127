// Checks whether an output can be encoded in chunks with the same result as in one piece.
import { assertNever } from "../../errors.ts";
import type { TrackContainer } from "../../format/containers.ts";
import { clippedPart } from "../../job/clip.ts";
import { type HttpStreamOutput, hasTracks, type OutputSpec, type VideoOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { chunkGridMs, prerollOf } from "../chunks/chunkable-source.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { COUNTING_CONTAINERS } from "../filters/frame-timing.ts";
import { fileTrim, isEncodedVideo } from "../outputs/plan-file.ts";
import { outputAudios } from "../source/output-tracks.ts";
import { type AudioTrack, chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { ownTrim } from "../source/trim.ts";
import { streamTrim } from "../streams/stream-clip.ts";
import { burntImages, outputTexts } from "../text/choose-texts.ts";
import { ALL_CHANNELS, textTracks } from "../text/text-tracks.ts";
import { planOutput } from "./plan-encode.ts";

/** Demuxers (ffprobe's names) for which ffmpeg starts the timeline at the streams that it reads. */
const MPEG: ReadonlySet<string> = new Set(["mpegts", "mpeg"]);

/** Codecs whose chunks can be concatenated to a track of fragmented MP4. */
const CODECS: ReadonlySet<EncodedVideo["codec"]> = new Set(["h264", "hevc", "vp9", "av1"]);

/** Containers that keep the frames and their times when such a track is copied into them. */
const CONTAINERS: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp", "flv", "avi"]);

/** Audio codecs that do not change when they are copied from the interim file into the output. */
const AUDIO_CODECS: ReadonlySet<NonNullable<VideoOutput["audio"]>["codec"]> = new Set([
  "aac",
  "ac3",
  "mp2",
  "mp3",
  "opus",
  "flac",
  "pcm-s16le",
]);
/**
 * Containers whose interim file has the same kind. For other containers the interim file is MP4, which cannot hold all
 * of these codecs.
 */
const SAME_KIND: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm"]);
/** MP4 does not support MP3 of lower sample rates (ISO 14496-3 has only MPEG-1 and MPEG-2). */
const MP3_FROM_HZ = 16_000;

/**
 * Returns the reason why an output is encoded in one piece; completes "It is not encoded in chunks because …". Null:
 * chunks are possible.
 */
export function unchunkableReason(
  spec: OutputSpec,
  probe: MediaProbe,
  capabilities: FfmpegCapabilities,
): string | null {
  const source = chooseTracks(probe);
  if (prerollOf(source.format, 0) === null)
    return `the input's format (${source.format}) cannot be read from its middle`;
  // Nodes may number their streams differently, and chunks are read without a look at all of the file.
  if (source.hasPrograms) return "the input is a multiplex of several programs";
  if (source.video?.hasReservedMatrix) return "the input states a reserved color matrix, which is removed first";
  if (source.restarts) return "the clock of the input restarts or jumps";
  if (hasTracks(spec) && spec.audioTracks && source.audios.length > 1 && MPEG.has(source.format)) {
    return "the times of several audio tracks of an MPEG input depend on the tracks that are read";
  }
  switch (spec.type) {
    case "image":
      return "it consists of images";
    case "text":
      return "it consists of text";
    case "httpstream":
      return streamReason(spec, source) ?? textReason(spec, probe) ?? failureReason(spec, source, capabilities);
    case "video":
      return fileReason(spec, source) ?? textReason(spec, probe) ?? failureReason(spec, source, capabilities);
    default:
      return assertNever(spec);
  }
}

const IMPOSSIBLE = "it cannot be made of this input";

/** Outputs that no node can make report their failure when a node tries to encode them in one piece. */
function failureReason(spec: OutputSpec, source: SourceTracks, capabilities: FfmpegCapabilities): string | null {
  return planOutput(spec, source, capabilities).ok ? null : IMPOSSIBLE;
}

function textReason(spec: OutputSpec, probe: MediaProbe): string | null {
  const { shown: tracks, burnt } = outputTexts(spec, textTracks(probe), ALL_CHANNELS);
  const isOfImages = burntImages(burnt) || (!burnt.ok && burnt.error.code === "subtitle_failed");
  if (isOfImages) return "the captions of `burn` are not text";
  return tracks.ok && burnt.ok ? null : IMPOSSIBLE;
}

function fileReason(spec: VideoOutput, source: SourceTracks): string | null {
  const { video, audio, container, clip } = spec;
  const { offsetMs, durationMs } = clippedPart(clip);
  if (!video || !source.video) return "it has no video";
  if (!isEncodedVideo(video)) return "its video is copied";
  if (!CODECS.has(video.codec)) return `chunks of ${video.codec} cannot be joined`;
  if (video.twoPass) return "it is encoded in two passes";
  if (spec.offsetMs !== offsetMs || spec.durationMs !== durationMs) return "it is trimmed";
  if (COUNTING_CONTAINERS.has(container) && clip && clip.startMs < source.video.startMs) {
    return "its clip starts before the video";
  }
  if (!CONTAINERS.has(container)) return `chunks cannot be joined in ${container}`;
  if (source.audio && !audio && source.format === "mpegts" && source.video.startMs > source.audio.startMs) {
    return "its times depend on whether the audio of the MPEG-TS input is read";
  }
  // A track that the source lacks fails the output, wherever it is planned.
  const selected = outputAudios(spec, fileTrim(spec, source), source);
  const audios = selected.ok ? selected.value.audios : [];
  const reasons = audios.map((audio) => audioReason(audio.spec, container, audio.track));
  return reasons.find((reason) => reason !== null) ?? null;
}

function audioReason(
  spec: NonNullable<VideoOutput["audio"]>,
  container: TrackContainer,
  { sampleRateHz }: AudioTrack,
): string | null {
  if (spec.codec === "copy") return "its audio is copied";
  const isKept = AUDIO_CODECS.has(spec.codec) && (SAME_KIND.has(container) || spec.codec !== "pcm-s16le");
  if (!isKept) return `audio in ${spec.codec} cannot be joined with chunks`;
  const hz = spec.sampleRateHz ?? sampleRateHz;
  return spec.codec === "mp3" && (hz === null || hz < MP3_FROM_HZ) ? "its audio has a low sample rate" : null;
}

/** Trims of the same frame may differ by this. */
const ROUNDED_MS = 0.5;

function streamReason(spec: HttpStreamOutput, source: SourceTracks): string | null {
  if (!source.video || spec.variants.every(({ video }) => video === null)) return "it has no video";
  const startsApart = Math.abs(streamTrim(spec, source).startMs - ownTrim(spec.clip, source).startMs) > ROUNDED_MS;
  if (startsApart && spec.variants.some(({ video }) => video?.fps === null)) {
    return "its clip starts between two frames of its slowest video";
  }
  if (source.video.isSparse) return "its frames are shown for so long that segments need repeated frames";
  if (chunkGridMs([spec]) !== null) return null;
  return "there is no chunk length that is a multiple of its segments and of its keyframe distance";
}
