// Chooses the tracks of the source that go into an output.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Undecodable } from "../../media/choose-streams.ts";
import { isExact } from "./output-length.ts";
import type { AudioTrack, SourceTracks } from "./source-tracks.ts";
import type { Track } from "./track-length.ts";
import type { Trim } from "./trim.ts";

/** Why a track that the output requires cannot be decoded. A copy needs no decoding, except of encrypted streams. */
export function requiredUndecodable({ video, audio }: VideoOutput, source: SourceTracks): Undecodable | null {
  const [requested, track] = video ? [video, source.video] : [audio, source.audio];
  const reason = track?.undecodable ?? null;
  return requested?.codec === "copy" && reason?.code !== "input_encrypted" ? null : reason;
}

/** Whether the output begins after the end of the track. */
export const startsBeyondEnd = ({ startMs }: Trim, track: Track | null): boolean =>
  startMs > 0 && track !== null && isExact(track) && track.endMs !== null && startMs >= track.endMs;

/**
 * The audio that goes into the output. Next to video, audio that cannot be decoded or is entirely outside of the trim
 * counts as missing.
 */
export function audioTrack(
  spec: Pick<VideoOutput, "video" | "audio">,
  trim: Trim,
  { audio }: SourceTracks,
): AudioTrack | null {
  const isOutside =
    audio !== null && ((trim.endMs !== null && audio.startMs >= trim.endMs) || startsBeyondEnd(trim, audio));
  return spec.audio && !((isOutside || isUndecodableAudio(spec, audio)) && spec.video) ? audio : null;
}

/** Whether the requested audio cannot be decoded. A copy needs no decoding, except of encrypted streams. */
export const isUndecodableAudio = ({ audio }: Pick<VideoOutput, "audio">, track: AudioTrack | null): boolean =>
  !!track?.undecodable && (audio?.codec !== "copy" || track.undecodable.code === "input_encrypted");

/** The note of an output that has no audio because the audio cannot be decoded. */
export const undecodableAudioNote = ({ reason }: Undecodable): string => `${reason}, so this output has no audio.`;
