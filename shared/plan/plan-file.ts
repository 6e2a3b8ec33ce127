// One file of tracks: a picture, sound, or both, each encoded or copied.

import type { Failure } from "../errors.ts";
import type { VideoOutput } from "../job/output-spec.ts";
import { type Undecodable, undecodableFailure } from "../media/choose-streams.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import { fileArguments, fileName } from "./command/muxers.ts";
import {
  type CommandPart,
  type OutputPlan,
  type PlannedOutput,
  type PlanResult,
  type Refusal,
  refuse,
} from "./command/output-plan.ts";
import { seconds } from "./command/progress-ticks.ts";
import { audioArguments, type EncodedAudio } from "./encoders/audio-encoders.ts";
import { audioEncoder, encoderFailure } from "./encoders/choose-encoder.ts";
import { type EncodedVideo, fourCharacterCode } from "./encoders/video-encoders.ts";
import { type PlannedVideoTrack, planVideoTrack } from "./plan-video-track.ts";
import { copyFailure, copyTrimFailure } from "./source/copy-tracks.ts";
import { frameCount, isExact, lastEnd, lengthOf } from "./source/output-length.ts";
import type { AudioTrack, SourceTracks, Track, VideoTrack } from "./source/source-tracks.ts";
import { type Trim, trimArguments, trimOf } from "./source/trim.ts";

/**
 * Plans one output of tracks. A source without sound makes a silent file; a missing picture, or missing sound where nothing
 * else was asked for, is refused, and so is what codec, container or node cannot do.
 */
export function planFile(spec: VideoOutput, source: SourceTracks, can: FfmpegCapabilities): PlanResult {
  const video = spec.video ? source.video : null;
  if (spec.video && !video) return refuse("input_has_no_video");
  if (!spec.video && !source.audio) return refuse("input_has_no_audio");
  const blind = undecodableNeed(spec, source);
  if (blind) return { ok: false, failure: undecodableFailure(blind) };
  const cut = isCopyCut(spec) ? copyCut(spec) : trimOf(spec, source);
  if (isBeyondEnd(cut, video ?? source.audio)) return refuse("offset_beyond_end");
  const uncut = spec.video?.codec === "copy" && spec.offsetMs > 0 ? copyTrimFailure(source.format) : null;
  if (uncut) return { ok: false, failure: uncut };
  const audio = audioTrack(spec, cut, source);
  const picture = video ? pictureOf(spec, video, cut, can) : null;
  if (picture && !picture.ok) return picture;
  const sound = audio ? planAudioTrack(spec, audio, can) : null;
  if (sound && !sound.ok) return sound;
  return { ok: true, plan: assemble(spec, cut, { video, audio, source }, picture, sound) };
}

/** Why a track that the output is not made without cannot be decoded. What is copied need not be, but for decryption. */
function undecodableNeed({ video, audio }: VideoOutput, source: SourceTracks): Undecodable | null {
  const [asked, track] = video ? [video, source.video] : [audio, source.audio];
  const why = track?.undecodable ?? null;
  return asked?.codec === "copy" && why?.code !== "input_encrypted" ? null : why;
}

type Chosen = { readonly video: VideoTrack | null; readonly audio: AudioTrack | null; readonly source: SourceTracks };
type Picture = { readonly ok: true; readonly planned: PlannedVideoTrack | null; readonly argv: readonly string[] };
type Sound = { readonly ok: true; readonly encoder: string; readonly argv: readonly string[] };

/** The picture's part; `planned` is null for a copy. */
function pictureOf(spec: VideoOutput, track: VideoTrack, cut: Trim, can: FfmpegCapabilities): Picture | Refusal {
  if (!spec.video) throw new Error("No picture is asked for");
  if (isEncodedVideo(spec.video)) {
    const result = planVideoTrack(spec, spec.video, track, cut, can);
    return result.ok ? { ok: true, planned: result.picture, argv: result.picture.argv } : result;
  }
  const failure = copyFailure(spec.container, "video", track.codec);
  if (failure) return { ok: false, failure };
  const tag = track.codec === "hevc" ? fourCharacterCode("hevc", spec.container) : [];
  return { ok: true, planned: null, argv: ["-c:v", "copy", ...tag] };
}

/** The sound's part of an output that is asked for sound; `argv` is from `-c:a` on. */
export function planAudioTrack(
  { audio: spec, container }: VideoOutput,
  track: AudioTrack,
  can: FfmpegCapabilities,
): Sound | Refusal {
  const refused = (failure: Failure): Refusal => ({ ok: false, failure });
  if (!spec) throw new Error("No sound is asked for");
  if (!isEncodedAudio(spec)) {
    const failure = copyFailure(container, "audio", track.codec);
    if (failure) return refused(failure);
    return { ok: true, encoder: "copy", argv: ["-c:a", "copy", ...strictness(container, track.codec)] };
  }
  const encoder = audioEncoder(spec.codec, can);
  if (!encoder) return refused(encoderFailure(spec.codec));
  const argv = [...audioArguments(encoder, spec, container, track), ...strictness(container, spec.codec)];
  return { ok: true, encoder, argv };
}

/** FLAC in mp4 counted as an experiment until ffmpeg 6. */
const strictness = (container: VideoOutput["container"], codec: string | null): string[] =>
  container === "mp4" && codec === "flac" ? ["-strict", "experimental"] : [];

export const isEncodedVideo = (spec: NonNullable<VideoOutput["video"]>): spec is EncodedVideo => spec.codec !== "copy";
const isEncodedAudio = (spec: NonNullable<VideoOutput["audio"]>): spec is EncodedAudio => spec.codec !== "copy";

function assemble(
  spec: VideoOutput,
  cut: Trim,
  { video, audio, source }: Chosen,
  picture: Picture | null,
  sound: Sound | null,
): OutputPlan {
  const label = `v${spec.index}`;
  const tracks: Track[] = [...(video ? [video] : []), ...(audio ? [audio] : [])];
  const planned = picture?.planned ?? null;
  const pictureMap = video ? ["-map", planned ? `[${label}]` : `0:${video.streamIndex}`] : [];
  const cutting = isCopyCut(spec) ? lengthArguments(cut) : trimArguments(cut);
  const part: CommandPart = {
    branches: planned ? [{ label, filters: planned.filters }] : [],
    argv: [
      ...pictureMap,
      ...(audio ? ["-map", `0:${audio.streamIndex}`] : []),
      ...[...(picture?.argv ?? []), ...(sound?.argv ?? []), ...cutting],
      ...fileArguments(spec.index, spec),
    ],
    expectedFrames: video ? frameCount(cut, planned, video) : null,
    endMs: lastEnd(cut, tracks),
    startMs: cut.startMs,
  };
  const firstPass = planned?.firstPass;
  return {
    ...part,
    planned: plannedOutput(spec, cut, { video, audio, source }, planned, sound),
    seekMs: cut.seekMs,
    ...(planned?.device ? { device: planned.device } : {}),
    ...(firstPass
      ? { firstPass: { ...part, argv: [...pictureMap, ...firstPass, ...cutting, "-f", "null", "-"] } }
      : {}),
  };
}

function plannedOutput(
  spec: VideoOutput,
  cut: Trim,
  { video, audio, source }: Chosen,
  picture: PlannedVideoTrack | null,
  sound: Sound | null,
): PlannedOutput {
  // A picture that stands still leaves no packets in Theora: its length is not to be relied on.
  const tracks: Track[] = [...(video && spec.video?.codec !== "theora" ? [video] : []), ...(audio ? [audio] : [])];
  return {
    output: spec.index,
    files: [fileName(spec.index, spec.container)],
    expectedDurationMs: lengthOf(cut, tracks.filter(isExact)),
    tracks: [...(video ? ["video" as const] : []), ...(audio ? ["audio" as const] : [])],
    ...noteOf(spec, source),
    encoder: picture?.encoder ?? (video ? "copy" : (sound?.encoder ?? "copy")),
    ...(picture?.device ? { inHardware: true } : {}),
  };
}

/** Whether the cut goes by packets: a copied picture begins at a keyframe. */
const isCopyCut = ({ video, audio }: VideoOutput): boolean => (video ?? audio)?.codec === "copy";

/**
 * A copy is read from the keyframe before its beginning. ISO files say from where on it is shown; in others it begins that
 * much earlier.
 */
const copyCut = ({ offsetMs, durationMs }: VideoOutput): Trim => ({
  seekMs: offsetMs,
  startMs: offsetMs,
  endMs: durationMs === null ? null : offsetMs + durationMs,
});

const lengthArguments = ({ startMs, endMs }: Trim): string[] =>
  endMs === null ? [] : ["-t", seconds(endMs - startMs)];

const isBeyondEnd = ({ startMs }: Trim, track: Track | null): boolean =>
  startMs > 0 && track !== null && isExact(track) && track.endMs !== null && startMs >= track.endMs;

/** Sound that cannot be decoded, or does not sound within the cut, is as good as none, unless nothing else was asked for. */
export function audioTrack(
  spec: Pick<VideoOutput, "video" | "audio">,
  cut: Trim,
  { audio }: SourceTracks,
): AudioTrack | null {
  const beyond = audio !== null && ((cut.endMs !== null && audio.startMs >= cut.endMs) || isBeyondEnd(cut, audio));
  return spec.audio && !((beyond || isLostSound(spec, audio)) && spec.video) ? audio : null;
}

/** Whether sound is asked for beside a picture, and cannot be decoded. What is copied need not be, but for decryption. */
const isLostSound = ({ audio: asked }: Pick<VideoOutput, "audio">, track: AudioTrack | null): boolean =>
  !!track?.undecodable && (asked?.codec !== "copy" || track.undecodable.code === "input_encrypted");

/** What the owner of an output with a picture should know of its sound. */
const noteOf = (spec: VideoOutput, { audio }: SourceTracks): Pick<PlannedOutput, "note"> =>
  spec.video && spec.audio && audio?.undecodable && isLostSound(spec, audio)
    ? { note: undecodableAudioNote(audio.undecodable) }
    : {};

/** Of an output that has no sound because of that. */
export const undecodableAudioNote = ({ reason }: Undecodable): string => `${reason}, so this output has no audio.`;
