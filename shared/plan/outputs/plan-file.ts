// Plans a file of tracks: video, audio, or both, each encoded or copied.
import type { VideoOutput } from "../../job/output-spec.ts";
import { undecodableFailure } from "../../media/choose-streams.ts";
import type { Need } from "../../protocol/needs.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { fileArguments, fileName, strictArguments } from "../command/muxers.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart } from "../command/planned-run.ts";
import { audioArguments, type EncodedAudio } from "../encoders/audio-encoders.ts";
import { WITHOUT_TIMES } from "../encoders/audio-filters.ts";
import { audioEncoderNeed, chooseAudioEncoder, encoderFailure } from "../encoders/choose-encoder.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { fourCharacterCode } from "../encoders/video-encoders.ts";
import { expectedFrameCount } from "../filters/frame-timing.ts";
import { copyFailure, copySource, copyTimesFailure, copyTrimFailure } from "../source/copy-tracks.ts";
import { lastEnd, leastEnd } from "../source/output-length.ts";
import {
  audioTrack,
  earlyEndNote,
  fallBackNote,
  isUndecodableAudio,
  requiredUndecodable,
  startsBeyondEnd,
  undecodableAudioNote,
} from "../source/output-tracks.ts";
import { sourceFailure } from "../source/source-failures.ts";
import type { AudioTrack, SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import type { Track } from "../source/track-length.ts";
import { type Trim, trimArguments, trimOf } from "../source/trim.ts";
import { growingFile } from "./growing-file.ts";
import { decisiveFailure, type OutputPlan, type PlannedOutput } from "./output-plan.ts";
import { type PlannedVideoTrack, planVideoTrack } from "./plan-video-track.ts";

/**
 * Plans an output of tracks. A source without audio gives a silent file. Fails if the source lacks video, or audio if
 * nothing else is requested. Also fails if codec, container or node does not support the request.
 */
export function planFile(
  spec: VideoOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  uploadsEarly = false,
): Result<OutputPlan> {
  const video = spec.video ? source.video : null;
  if (spec.video && !video) return err(sourceFailure("input_has_no_video"));
  if (!spec.video && !source.audio) return err(sourceFailure("input_has_no_audio"));
  const undecodable = requiredUndecodable(spec, source);
  if (undecodable) return err(undecodableFailure(undecodable));
  const trim = fileTrim(spec, source);
  if (startsBeyondEnd(trim, video ?? source.audio)) return err(sourceFailure("offset_beyond_end"));
  const untrimmable = spec.video?.codec === "copy" && spec.offsetMs > 0 ? copyTrimFailure(source.format) : null;
  if (untrimmable) return err(untrimmable);
  const audio = audioTrack(spec, trim, source);
  const plannedVideo = video ? videoOf(spec, { ...source, video }, trim, capabilities) : null;
  const plannedAudio = audio ? planAudioTrack(spec, audio, capabilities, trim.seekMs) : null;
  if (plannedVideo?.ok === false || plannedAudio?.ok === false) {
    return err(decisiveFailure([plannedVideo, plannedAudio]));
  }
  const tracks = { video, audio, plannedVideo: plannedVideo?.value ?? null, plannedAudio: plannedAudio?.value ?? null };
  return ok(assemble(spec, trim, tracks, source, uploadsEarly));
}

/** `encoded` is null for a copy; `argv` is from `-c:v` on. */
type FileVideo = { readonly encoded: PlannedVideoTrack | null; readonly argv: readonly string[] };
/** `argv` is from `-c:a` on. */
type FileAudio = { readonly encoder: string; readonly argv: readonly string[]; readonly needs: readonly Need[] };

/** The tracks of the source that go into the file, and their plans. */
type FileTracks = {
  readonly video: VideoTrack | null;
  readonly audio: AudioTrack | null;
  readonly plannedVideo: FileVideo | null;
  readonly plannedAudio: FileAudio | null;
};

function videoOf(
  output: VideoOutput,
  { video: track, format }: SourceTracks & { readonly video: VideoTrack },
  trim: Trim,
  capabilities: FfmpegCapabilities,
): Result<FileVideo> {
  const { video, container } = output;
  if (!video) throw new Error("No video is requested");
  if (isEncodedVideo(video)) {
    const planned = planVideoTrack({ output, video, track, trim, capabilities });
    return planned.ok ? ok({ encoded: planned.value, argv: planned.value.argv }) : planned;
  }
  const failure = copyFailure(container, "video", track.codec) ?? copyTimesFailure(format, track);
  if (failure) return err(failure);
  const tag = track.codec === "hevc" ? fourCharacterCode("hevc", container) : [];
  return ok({ encoded: null, argv: ["-c:v", "copy", ...tag] });
}

/** Plans the audio of an output that requests audio. `seekMs`: start of reading in the source. */
export function planAudioTrack(
  { audio: spec, container, loudness }: VideoOutput,
  track: AudioTrack,
  capabilities: FfmpegCapabilities,
  seekMs = 0,
): Result<FileAudio> {
  if (!spec) throw new Error("No audio is requested");
  if (!isEncodedAudio(spec)) {
    const failure = copyFailure(container, "audio", track.codec);
    if (failure) return err(failure);
    return ok({ encoder: "copy", needs: [], argv: ["-c:a", "copy", ...strictArguments(container, track.codec)] });
  }
  const encoder = chooseAudioEncoder(spec.codec, capabilities);
  if (!encoder) return err(encoderFailure(spec.codec));
  const argv = [
    ...audioArguments(encoder, { spec, container, track, seekMs, loudness }),
    ...strictArguments(container, spec.codec),
  ];
  return ok({ encoder, argv, needs: [audioEncoderNeed(spec.codec)] });
}

export const isEncodedVideo = (spec: NonNullable<VideoOutput["video"]>): spec is EncodedVideo => spec.codec !== "copy";
/** True if the audio is encoded, not copied. */
export const isEncodedAudio = (spec: NonNullable<VideoOutput["audio"]>): spec is EncodedAudio => spec.codec !== "copy";

function assemble(
  spec: VideoOutput,
  trim: Trim,
  tracks: FileTracks,
  source: SourceTracks,
  uploadsEarly: boolean,
): OutputPlan {
  const { video, audio, plannedVideo, plannedAudio } = tracks;
  const label = `v${spec.index}`;
  const encoded = plannedVideo?.encoded ?? null;
  const copied = video && !encoded ? copySource(source.format, video, spec) : null;
  // The unpacked file has the video first.
  const [videoIndex, audioIndex] = copied?.unpacked ? [0, 1] : [video?.streamIndex, audio?.streamIndex];
  const videoMap = video ? ["-map", encoded ? `[${label}]` : `0:${videoIndex}`] : [];
  const trimming = isCopyTrim(spec) ? lengthArguments(trim) : trimArguments(trim);
  const expectedFrames = video ? expectedFrameCount(trim, encoded?.timing ?? null, video) : null;
  const planned = plannedOutput(spec, trim, tracks, source);
  const written = { ...planned, frames: expectedFrames, timing: encoded?.timing ?? null, audio };
  const growing = uploadsEarly ? growingFile(spec, written) : null;
  const part: CommandPart = {
    branches: encoded ? [{ label, filters: encoded.filters }] : [],
    argv: [
      ...videoMap,
      ...(audio ? ["-map", `0:${audioIndex}`] : []),
      ...(plannedVideo?.argv ?? []),
      ...(plannedAudio?.argv ?? []),
      ...trimming,
      ...fileArguments({ ...spec, indexAtEnd: growing?.indexAtEnd ?? false }, fileName(spec.index, spec.container)),
    ],
    expectedFrames,
    endMs: lastEnd(
      trim,
      [video, audio].filter((track) => track !== null),
    ),
    startMs: trim.startMs,
  };
  const firstPass = encoded?.firstPass;
  return {
    ...part,
    planned: growing ? { ...planned, growing } : planned,
    needs: [...(encoded?.needs ?? []), ...(plannedAudio?.needs ?? [])],
    seekMs: trim.seekMs,
    ...(copied ? { copied } : {}),
    ...(encoded?.device ? { device: encoded.device } : {}),
    ...(firstPass ? { firstPass: { ...part, argv: [...videoMap, ...firstPass, ...trimming, "-f", "null", "-"] } } : {}),
  };
}

function plannedOutput(spec: VideoOutput, trim: Trim, planned: FileTracks, source: SourceTracks): PlannedOutput {
  const { video, audio, plannedVideo, plannedAudio } = planned;
  const encoded = plannedVideo?.encoded ?? null;
  return {
    output: spec.index,
    files: [fileName(spec.index, spec.container)],
    tracks: [
      ...(video ? [{ kind: "video" as const, endMs: videoEnd(spec, leastEnd(trim, video, !audio)) }] : []),
      ...(audio ? [{ kind: "audio" as const, endMs: audioEnd(spec, trim, audio, !video) }] : []),
    ],
    ...noteOf(spec, trim, source, [video, audio]),
    encoder: encoded?.encoder ?? (video ? "copy" : (plannedAudio?.encoder ?? "copy")),
    ...(encoded?.device ? { inHardware: true } : {}),
  };
}

/** Theora has no packets for frames that repeat, so its end is not certain. */
const videoEnd = ({ video }: VideoOutput, endMs: number | null): number | null =>
  video?.codec === "theora" ? null : endMs;

/**
 * In containers without timestamps, late audio starts at 0, and the gaps of copied audio are lost. A truncated source
 * still lacks the missing part.
 */
function audioEnd({ audio, container }: VideoOutput, trim: Trim, track: AudioTrack, isAlone: boolean): number | null {
  if (!WITHOUT_TIMES.has(container)) return leastEnd(trim, track, isAlone);
  const endMs = leastEnd(trim, track, false);
  if (endMs === null || (audio?.codec === "copy" && track.lengthFrom === "packets")) return null;
  return endMs - Math.max(0, Math.round(track.startMs - trim.startMs));
}

/** The part of the source that a file shows. */
export const fileTrim = (spec: VideoOutput, source: SourceTracks): Trim =>
  isCopyTrim(spec) ? copyTrim(spec) : trimOf(spec, source);

/** True if the output is trimmed by packets: copied video starts at a keyframe. */
const isCopyTrim = ({ video, audio }: VideoOutput): boolean => (video ?? audio)?.codec === "copy";

/**
 * A copy is read from the keyframe before its start. ISO files state the time from which the copy is shown. In other
 * containers the output starts at that keyframe.
 */
const copyTrim = ({ offsetMs, durationMs }: VideoOutput): Trim => ({
  seekMs: offsetMs,
  startMs: offsetMs,
  endMs: durationMs === null ? null : offsetMs + durationMs,
});

const lengthArguments = ({ startMs, endMs }: Trim): string[] =>
  endMs === null ? [] : ["-t", seconds(endMs - startMs)];

/** Note on the tracks of an output, for its owner. */
function noteOf(
  spec: VideoOutput,
  trim: Trim,
  { audio }: SourceTracks,
  tracks: readonly [video: Track | null, audio: Track | null],
): Pick<PlannedOutput, "note"> {
  const isLeftOut = spec.video && spec.audio && isUndecodableAudio(spec, audio);
  const left = isLeftOut && audio?.undecodable ? undecodableAudioNote(audio.undecodable) : null;
  const notes = [left, fallBackNote(tracks), earlyEndNote(trim, ...tracks)].filter((note) => note !== null);
  return notes.length > 0 ? { note: notes.join(" ") } : {};
}
