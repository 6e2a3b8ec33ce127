// Chooses the tracks of the source that go into an output.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Undecodable } from "../../media/choose-streams.ts";
import { isExact, lastEnd } from "./output-length.ts";
import type { AudioTrack, SourceTracks } from "./source-tracks.ts";
import type { Track } from "./track-length.ts";
import type { Trim } from "./trim.ts";

/** Returns the reason why a track that the output requires cannot be decoded, or copied if a copy is requested. */
export function requiredUndecodable({ video, audio }: VideoOutput, source: SourceTracks): Undecodable | null {
  const [requested, track] = video ? [video, source.video] : [audio, source.audio];
  const reason = track?.undecodable ?? null;
  return requested?.codec === "copy" && reason && canBeCopied(reason) ? null : reason;
}

/** True if the output starts after the end of the track. */
export const startsBeyondEnd = ({ startMs }: Trim, track: Track | null): boolean =>
  startMs > 0 && track !== null && isExact(track) && track.endMs !== null && startMs >= track.endMs;

/**
 * The audio that goes into the output. Next to video, some audio counts as missing: audio that cannot be decoded, and
 * audio entirely outside of the trim.
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

/** True if the requested audio cannot be decoded, or copied if a copy is requested. */
export const isUndecodableAudio = ({ audio }: Pick<VideoOutput, "audio">, track: AudioTrack | null): boolean =>
  !!track?.undecodable && !(audio?.codec === "copy" && canBeCopied(track.undecodable));

/** A copy needs no decoder. */
const canBeCopied = ({ code }: Undecodable): boolean => code === "input_codec_not_supported";

/** Note for an output of a source whose timestamps fall back; null for other sources. */
export function fallBackNote(tracks: readonly (Track | null)[]): string | null {
  const ms = tracks.map((track) => track?.fallsBackAtMs ?? null).find((at) => at !== null);
  if (ms == null) return null;
  const at = `The input's timestamps fall back at ${(ms / 1000).toFixed(2)} s, as after a broken transmission`;
  return `${at}; packets with earlier timestamps are dropped.`;
}

/** A video may end this much before its audio without a note, in ms or as a share. */
const EARLY_END_MS = 2000;
const EARLY_END_SHARE = 0.05;

/**
 * Note for an output whose video ends long before its audio, for example because a broadcast changes its codec. Null
 * for other outputs.
 */
export function earlyEndNote(
  trim: Trim,
  video: Track | null | undefined,
  audio: Track | null | undefined,
): string | null {
  const [videoMs, audioMs] = [video, audio].map((track) => (track && isExact(track) ? lastEnd(trim, [track]) : null));
  if (videoMs == null || audioMs == null) return null;
  if (audioMs - videoMs <= Math.max(EARLY_END_MS, audioMs * EARLY_END_SHARE)) return null;
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  return `The input's video ends at ${seconds(videoMs)} s, its audio at ${seconds(audioMs)} s.`;
}

/** Note for an output without audio because the audio cannot be decoded. */
export const undecodableAudioNote = ({ reason }: Undecodable): string => `${reason}, so this output has no audio.`;
