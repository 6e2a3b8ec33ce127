// Writes the tracks of chunked outputs before they are joined.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { fileArguments } from "../command/muxers.ts";
import { streamArguments } from "../streams/stream-muxers.ts";

/** File of a video track, or of a stream's audio track: fragmented MP4. Chunks and joined tracks have the same name. */
export const chunkFile = (output: number, track: string): string => `${output}-${track}.mp4`;

/** Pipe that serves a joined video track while the track grows. */
export const pipeFile = (output: number, track: string): string => `${output}-${track}.pipe`;

/** A box with bitrates would differ between chunks, but a track has only a single header. */
const SAME_HEADERS = ["-write_btrt", "0"];

/** ffmpeg's options for the video of a chunk. A chunk has no segments. */
export const chunkArguments = (file: string): string[] => [
  ...SAME_HEADERS,
  ...streamArguments({ fmp4: file, ts: null }, "video", 0),
];

/** Output of a first pass, which needs no frames. */
export const NULL_OUTPUT: readonly string[] = ["-f", "null", "-"];

/** ffmpeg's options for a stream's audio track, which is encoded in one piece. */
export const streamAudioArguments = (file: string, codec: string | null): string[] =>
  streamArguments({ fmp4: file, ts: null }, "audio", 0, codec);

/** Name of a file's only audio track. Streams have their own names. */
export const AUDIO_TRACK = "audio";

/**
 * Container of the audio until it is joined with its video. It keeps everything that the output's container keeps, so
 * that copying changes nothing. Fragmented MP4 would lose the encoder's priming and padding.
 */
function interimContainer({ container }: VideoOutput): TrackContainer {
  if (container === "mkv" || container === "webm") return "mkv";
  return container === "mov" ? "mov" : "mp4";
}

/**
 * Priming starts before time 0. If Matroska's muxer does not write priming as a codec delay, it moves the start of the
 * audio to 0. The audio is then later than its video, because it is alone in its file. All versions write the delay of
 * Opus.
 */
const KEEP_PRIMING: readonly string[] = ["-avoid_negative_ts", "disabled"];

/**
 * Until version 6, ffmpeg writes the delay of Opus (6.5 ms, read as 7 ms) without adding it to the timestamps, but
 * subtracts it when it reads them.
 */
const WITH_OPUS_DELAY: readonly string[] = [...KEEP_PRIMING, "-output_ts_offset", "0.007"];
const OMITS_DELAY = /^[1-5]\./;

/** File of the audio until it is joined. */
export const audioFile = (spec: VideoOutput): string => `${spec.index}-${AUDIO_TRACK}.${interimContainer(spec)}`;

/** ffmpeg's options for a file's audio, which is encoded in one piece. `codec` is ffmpeg's name, also for a copy. */
export function audioFileArguments(
  spec: VideoOutput,
  codec: string | null,
  { ffmpegVersion = "" }: Pick<FfmpegCapabilities, "ffmpegVersion">,
): string[] {
  const container = interimContainer(spec);
  const format = { container, video: null, fragmented: false, keepsMetadata: spec.keepsMetadata };
  const opus = OMITS_DELAY.test(ffmpegVersion) ? WITH_OPUS_DELAY : [];
  const priming = codec === "opus" ? opus : KEEP_PRIMING;
  return [...(container === "mkv" ? priming : []), ...fileArguments(format, audioFile(spec))];
}
