// Chooses the tracks of the source that go into an output.
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import type { TrackTraits } from "../../job/audio-tracks.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Undecodable } from "../../media/choose-streams.ts";
import { ok, type Result } from "../../result.ts";
import { isExact, lastEnd } from "./output-length.ts";
import { selectAudio } from "./select-audio.ts";
import type { AudioTrack, SourceTracks } from "./source-tracks.ts";
import type { Track } from "./track-length.ts";
import type { Trim } from "./trim.ts";

/** Returns the reason why a track that the output requires cannot be decoded, or copied if a copy is requested. */
export function requiredUndecodable(
  { video, audio, audioTracks }: VideoOutput,
  source: SourceTracks,
): Undecodable | null {
  if (!video && audioTracks) return null;
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
  const isMissing = isOutside(trim, audio) || isUndecodableAudio(spec, audio);
  return spec.audio && !(isMissing && spec.video) ? audio : null;
}

export const isOutside = (trim: Trim, track: AudioTrack | null): boolean =>
  track !== null && ((trim.endMs !== null && track.startMs >= trim.endMs) || startsBeyondEnd(trim, track));

/** A track of an output, with its own format. `traits`: null without the parameter `audio`. */
export type OutputAudio = {
  readonly track: AudioTrack;
  readonly spec: AudioTrackSpec;
  readonly traits: TrackTraits | null;
};

/** The audio tracks of a file, and a note about tracks that were left out. */
export function outputAudios(
  spec: VideoOutput,
  trim: Trim,
  source: SourceTracks,
): Result<{ readonly audios: readonly OutputAudio[]; readonly note: string | null }> {
  const { audio: common, audioTracks } = spec;
  if (!common) return ok({ audios: [], note: null });
  if (!audioTracks) {
    const track = audioTrack(spec, trim, source);
    return ok({ audios: track ? [{ track, spec: common, traits: null }] : [], note: null });
  }
  const selected = selectAudio(audioTracks, source, (format) => (format ?? common).codec === "copy");
  if (!selected.ok) return selected;
  const { tracks, note } = selected.value;
  const audios = tracks
    .filter(({ track }) => !spec.video || !isOutside(trim, track))
    .map(({ track, traits, format }) => ({ track, traits, spec: format ?? common }));
  return ok({ audios, note });
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
