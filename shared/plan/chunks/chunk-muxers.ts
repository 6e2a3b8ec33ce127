// Writes the tracks of chunked outputs before they are joined.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import { fileArguments } from "../command/muxers.ts";
import { streamArguments } from "../streams/stream-muxers.ts";

/**
 * The file of a video track, or of a stream's audio track: fragmented MP4. Chunks and joined tracks have the same name.
 */
export const chunkFile = (output: number, track: string): string => `${output}-${track}.mp4`;

/** The pipe through which a joined video track is read while it grows. */
export const pipeFile = (output: number, track: string): string => `${output}-${track}.pipe`;

/** A box with bitrates would differ between chunks, but a track has one header. */
const SAME_HEADERS = ["-write_btrt", "0"];

/** ffmpeg's options for the video of a chunk, which has no segments. */
export const chunkArguments = (file: string): string[] => [
  ...SAME_HEADERS,
  ...streamArguments({ fmp4: file, ts: null }, "video", 0),
];

/** The output of a first pass, whose frames are not needed. */
export const NULL_OUTPUT: readonly string[] = ["-f", "null", "-"];

/** ffmpeg's options for an audio track of a stream, which is encoded in one piece. */
export const streamAudioArguments = (file: string): string[] => streamArguments({ fmp4: file, ts: null }, "audio", 0);

/** The only audio track of a file. Streams have their own names. */
export const AUDIO_TRACK = "audio";

/**
 * The container of the audio until it is joined with its video. It keeps everything that the output's container keeps,
 * so that copying changes nothing. Fragmented MP4 would lose the encoder's priming and padding.
 */
function interimContainer({ container }: VideoOutput): TrackContainer {
  if (container === "mkv" || container === "webm") return "mkv";
  return container === "mov" ? "mov" : "mp4";
}

/**
 * Priming begins before time 0. If Matroska's muxer does not write it as a codec delay, it moves the audio to start at
 * 0 instead, which makes the audio later than its video because it is alone in its file. All versions write the delay
 * of Opus, and ffmpeg 5.1 applies it twice to times that are not moved.
 */
const KEEP_PRIMING: readonly string[] = ["-avoid_negative_ts", "disabled"];

/** The file of the audio until it is joined. */
export const audioFile = (spec: VideoOutput): string => `${spec.index}-${AUDIO_TRACK}.${interimContainer(spec)}`;

/**
 * ffmpeg's options for the audio of a file, which is encoded in one piece. `codec` is ffmpeg's name, also for a copy.
 */
export function audioFileArguments(spec: VideoOutput, codec: string | null): string[] {
  const container = interimContainer(spec);
  const format = { container, video: null, fragmented: false, keepsMetadata: spec.keepsMetadata };
  const priming = container === "mkv" && codec !== "opus" ? KEEP_PRIMING : [];
  return [...priming, ...fileArguments(format, audioFile(spec))];
}
