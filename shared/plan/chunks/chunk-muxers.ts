// How tracks are written that are put together later.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import { fileArguments } from "../command/muxers.ts";
import { streamArguments } from "../streams/stream-muxers.ts";

/** Of a picture track or a stream's sound: fragmented MP4 in the working folder, of a chunk and of the whole alike. */
export const chunkFile = (output: number, track: string): string => `${output}-${track}.mp4`;

/** A box with bitrates would differ from chunk to chunk, and a track has one header. */
const SAME_HEADERS = ["-write_btrt", "0"];

/** ffmpeg's options for a chunk's picture. Segments play no part in this. */
export const chunkArguments = (file: string): string[] => [
  ...SAME_HEADERS,
  ...streamArguments({ fmp4: file, ts: null }, "video", 0),
];

/** Of a first pass, whose pictures nobody wants. */
export const NOWHERE: readonly string[] = ["-f", "null", "-"];

/** ffmpeg's options for a stream's sound, all of it. */
export const streamAudioArguments = (file: string): string[] => streamArguments({ fmp4: file, ts: null }, "audio", 0);

/** The only sound of a file; streams name theirs. */
export const AUDIO_TRACK = "sound";

/**
 * The container that sound waits in for its picture: one that keeps what the output's own keeps, so that copying changes
 * nothing. Fragments of MP4 would lose the encoder's priming and padding.
 */
function waitingContainer({ container }: VideoOutput): TrackContainer {
  if (container === "mkv" || container === "webm") return "mkv";
  return container === "mov" ? "mov" : "mp4";
}

/**
 * Priming begins before time 0. Where Matroska's muxer does not write it down as a codec delay it moves the audio behind 0
 * instead, which alone in its file makes it later than its video. All versions write the delay of Opus, and 5.1 applies it
 * twice to times that are not moved.
 */
const KEEP_PRIMING: readonly string[] = ["-avoid_negative_ts", "disabled"];

/** In the working folder. */
export const audioFile = (spec: VideoOutput): string => `${spec.index}-${AUDIO_TRACK}.${waitingContainer(spec)}`;

/** ffmpeg's options for the sound of a file, all of it. `codec` by ffmpeg's name, also of what is copied. */
export function audioFileArguments(spec: VideoOutput, codec: string | null): string[] {
  const container = waitingContainer(spec);
  const format = { ...spec, container, video: null, fragmented: false };
  const priming = container === "mkv" && codec !== "opus" ? KEEP_PRIMING : [];
  return [...priming, ...fileArguments(spec.index, format).slice(0, -1), audioFile(spec)];
}
