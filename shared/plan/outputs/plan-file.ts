// Plans a file of tracks: video, audio, or both, each encoded or copied.
import type { Failure } from "../../errors.ts";
import type { RequestedTrack } from "../../job/audio-tracks.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { SubtitleSpec } from "../../job/subtitles.ts";
import { undecodableFailure } from "../../media/choose-streams.ts";
import type { Need } from "../../protocol/needs.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { fileArguments, fileName, strictArguments } from "../command/muxers.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart, NamedInput } from "../command/planned-run.ts";
import { type AudioEncodeOptions, audioArguments, type EncodedAudio, loudnessOf } from "../encoders/audio-encoders.ts";
import { WITHOUT_TIMES } from "../encoders/audio-filters.ts";
import { audioEncoderNeed, chooseAudioEncoder, encoderFailure } from "../encoders/choose-encoder.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { fourCharacterCode } from "../encoders/video-encoders.ts";
import { expectedFrameCount } from "../filters/frame-timing.ts";
import { copyFailure, copySource, copyTimesFailure, copyTrimFailure } from "../source/copy-tracks.ts";
import { lastEnd, leastEnd } from "../source/output-length.ts";
import {
  earlyEndNote,
  fallBackNote,
  isUndecodableAudio,
  type OutputAudio,
  outputAudios,
  requiredUndecodable,
  startsBeyondEnd,
  undecodableAudioNote,
} from "../source/output-tracks.ts";
import { sourceFailure } from "../source/source-failures.ts";
import type { AudioTrack, SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { type Trim, trimArguments, trimOf } from "../source/trim.ts";
import { chapterInput } from "./file-chapters.ts";
import { growingFile } from "./growing-file.ts";
import { forStream, type MappedAudio, mapAudio, traitArguments } from "./map-audio.ts";
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
  if (!spec.video && !source.audio && !spec.audioTracks) return err(sourceFailure("input_has_no_audio"));
  const undecodable = requiredUndecodable(spec, source);
  if (undecodable) return err(undecodableFailure(undecodable));
  const trim = fileTrim(spec, source);
  const selected = outputAudios(spec, trim, source);
  if (!selected.ok) return selected;
  const { audios } = selected.value;
  if (!video && audios.length === 0) return err(sourceFailure("input_has_no_audio"));
  if (startsBeyondEnd(trim, video ?? audios[0]?.track ?? null)) return err(sourceFailure("offset_beyond_end"));
  const untrimmable = spec.video?.codec === "copy" && spec.offsetMs > 0 ? copyTrimFailure(source.format) : null;
  if (untrimmable) return err(untrimmable);
  const plannedVideo = video ? videoOf(spec, { ...source, video }, trim, capabilities) : null;
  const plannedAudio = planAudioTracks(spec, audios, capabilities, trim.seekMs);
  if (plannedVideo?.ok === false || !plannedAudio.ok) {
    return err(decisiveFailure([plannedVideo, plannedAudio]));
  }
  const copied = video && !plannedVideo?.value.encoded ? copySource(source.format, video, spec) : null;
  if (copied?.unpacked && spec.audioTracks) return err(UNPACKED_TRACKS);
  const { note } = selected.value;
  const tracks = { video, audios, plannedVideo: plannedVideo?.value ?? null, plannedAudio: plannedAudio.value, note };
  return ok(assemble(spec, trim, tracks, source, uploadsEarly));
}

const UNPACKED_TRACKS: Failure = {
  code: "copy_not_possible",
  message: "Video of AVI with packed frames cannot be copied together with a list of audio tracks: encode it.",
};

/** `encoded` is null for a copy; `argv` is from `-c:v` on. */
type FileVideo = { readonly encoded: PlannedVideoTrack | null; readonly argv: readonly string[] };
/** `argv` is from `-c:a` on. */
type FileAudio = { readonly encoder: string; readonly argv: readonly string[]; readonly needs: readonly Need[] };

/** All audio of a file. `argv` is from the first `-c:a` on, `map` comes before it. */
type FileAudios = MappedAudio & { readonly encoder: string | null; readonly needs: readonly Need[] };

/** The tracks of the source that go into the file, and their plans. */
type FileTracks = {
  readonly video: VideoTrack | null;
  readonly audios: readonly OutputAudio[];
  readonly plannedVideo: FileVideo | null;
  readonly plannedAudio: FileAudios;
  /** Note about audio that was left out. */
  readonly note: string | null;
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

/** Plans all audio of a file. `seekMs`: start of reading in the source. */
export function planAudioTracks(
  output: VideoOutput,
  audios: readonly OutputAudio[],
  capabilities: FfmpegCapabilities,
  seekMs = 0,
): Result<FileAudios> {
  const mapped: MappedAudio[] = [];
  const planned: FileAudio[] = [];
  for (const [at, { track, spec, traits }] of audios.entries()) {
    const loudness = loudnessOf(output.loudness, traits && at + 1);
    const audio = planAudioTrack({ container: output.container, spec, loudness }, track, capabilities, seekMs);
    if (!audio.ok) return audio;
    planned.push(audio.value);
    const { argv, ...rest } = mapAudio(track, audio.value.argv, `a${output.index}t${at}`);
    mapped.push({ ...rest, argv: traits ? forStream(argv, at) : argv });
  }
  const all = audios.flatMap(({ traits }) => traits ?? []);
  const named = all.length > 0 ? traitArguments(output, all) : null;
  return ok({
    map: mapped.flatMap(({ map }) => map),
    argv: [...mapped.flatMap(({ argv }) => argv), ...(named?.argv ?? [])],
    graphs: mapped.flatMap(({ graphs }) => graphs),
    inputs: [...mapped.flatMap(({ inputs }) => inputs), ...(named?.inputs ?? [])],
    encoder: planned[0]?.encoder ?? null,
    needs: planned.flatMap(({ needs }) => needs),
  });
}

function planAudioTrack(
  { spec, container, loudness }: Pick<AudioEncodeOptions, "container" | "loudness"> & Pick<OutputAudio, "spec">,
  track: AudioTrack,
  capabilities: FfmpegCapabilities,
  seekMs: number,
): Result<FileAudio> {
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
  const { video, audios, plannedVideo, plannedAudio } = tracks;
  const label = `v${spec.index}`;
  const encoded = plannedVideo?.encoded ?? null;
  const copied = video && !encoded ? copySource(source.format, video, spec) : null;
  // The unpacked file has the video first.
  const videoIndex = copied?.unpacked ? 0 : video?.streamIndex;
  const audioMap = copied?.unpacked && audios.length > 0 ? ["-map", "0:1"] : plannedAudio.map;
  const videoMap = video ? ["-map", encoded ? `[${label}]` : `0:${videoIndex}`] : [];
  const trimming = isCopyTrim(spec) ? lengthArguments(trim) : trimArguments(trim);
  const expectedFrames = video ? expectedFrameCount(trim, encoded?.timing ?? null, video) : null;
  const planned = plannedOutput(spec, trim, tracks, source);
  const written = { ...planned, frames: expectedFrames, timing: encoded?.timing ?? null, audios };
  const chapters = copied?.unpacked ? null : chapterInput(spec, source, trim);
  // The index of text tracks has no upper bound here. Chapters are such a track, too.
  const growing = uploadsEarly && !spec.subtitles && !chapters ? growingFile(spec, written) : null;
  const inputs = [
    ...plannedAudio.inputs,
    ...(spec.subtitles ? [textsInput(spec.index)] : []),
    ...(chapters ? [chapters] : []),
  ];
  const part: CommandPart = {
    branches: encoded ? [{ label, filters: encoded.filters }] : [],
    argv: [
      ...videoMap,
      ...audioMap,
      ...textArguments(spec),
      ...(plannedVideo?.argv ?? []),
      ...plannedAudio.argv,
      ...(copied && spec.audioTracks && spec.keepsMetadata ? ["-map_metadata:s:v:0", `0:s:${videoIndex}`] : []),
      ...trimming,
      ...fileArguments(
        { ...spec, indexAtEnd: growing?.indexAtEnd ?? false, ...(chapters ? { chapters: `@${chapters.name}` } : {}) },
        fileName(spec.index, spec.container),
      ),
    ],
    expectedFrames,
    ...(plannedAudio.graphs.length > 0 ? { graphs: plannedAudio.graphs } : {}),
    ...(inputs.length > 0 ? { inputs } : {}),
    endMs: lastEnd(trim, [...(video ? [video] : []), ...audios.map(({ track }) => track)]),
    startMs: trim.startMs,
  };
  const firstPass = encoded?.firstPass;
  const { graphs: _graphs, inputs: _inputs, ...videoPart } = part;
  return {
    ...part,
    planned: growing ? { ...planned, growing } : planned,
    needs: [...(encoded?.needs ?? []), ...plannedAudio.needs],
    seekMs: trim.seekMs,
    ...(copied ? { copied } : {}),
    ...(encoded?.device ? { device: encoded.device } : {}),
    ...(firstPass
      ? { firstPass: { ...videoPart, argv: [...videoMap, ...firstPass, ...trimming, "-f", "null", "-"] } }
      : {}),
  };
}

/** Name of the input with an output's text tracks. */
export const textsName = (output: number): string => `texts-${output}`;
const textsInput = (output: number): NamedInput => ({ name: textsName(output), path: `/${textsName(output)}` });

/**
 * Copies the text tracks. The node has chosen them with all their traits. Their tags are copied by default, but not
 * beside other arguments for tags of streams.
 */
export function textArguments({ index, subtitles, audioTracks, keepsMetadata }: VideoOutput): string[] {
  if (!subtitles) return [];
  const chosen = subtitles === "all" ? [] : subtitles;
  const input = `@${textsName(index)}`;
  const tags =
    audioTracks || !keepsMetadata ? chosen.map((_, at) => [`-map_metadata:s:s:${at}`, `${input}:s:${at}`]) : [];
  const traits = chosen.map((text, at) => [`-disposition:s:${at}`, dispositionOf(text)]);
  return ["-map", `${input}:s`, "-c:s", "copy", ...tags.flat(), ...traits.flat()];
}

function dispositionOf({ default: isDefault, forced, kind }: SubtitleSpec): string {
  const names = [isDefault ? "default" : "", forced ? "forced" : "", kind === "captions" ? "hearing_impaired" : ""];
  return names.filter((name) => name !== "").join("+") || "0";
}

function plannedOutput(spec: VideoOutput, trim: Trim, planned: FileTracks, source: SourceTracks): PlannedOutput {
  const { video, audios, plannedVideo, plannedAudio } = planned;
  const encoded = plannedVideo?.encoded ?? null;
  return {
    output: spec.index,
    files: [fileName(spec.index, spec.container)],
    tracks: [
      ...(video ? [{ kind: "video" as const, endMs: videoEnd(spec, leastEnd(trim, video, audios.length === 0)) }] : []),
      ...audios.map((audio, at) => ({
        kind: "audio" as const,
        endMs: audioEnd(spec, trim, audio, !video && audios.length === 1),
        ...(at > 0 ? { at } : {}),
      })),
    ],
    ...noteOf(spec, trim, source, planned),
    encoder: encoded?.encoder ?? (video ? "copy" : (plannedAudio.encoder ?? "copy")),
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
function audioEnd(
  { container }: VideoOutput,
  trim: Trim,
  { track, spec }: OutputAudio,
  isAlone: boolean,
): number | null {
  if (!WITHOUT_TIMES.has(container)) return leastEnd(trim, track, isAlone);
  const endMs = leastEnd(trim, track, false);
  if (endMs === null || (spec.codec === "copy" && track.lengthFrom === "packets")) return null;
  return endMs - Math.max(0, Math.round(track.startMs - trim.startMs));
}

/** The part of the source that a file shows. */
export function fileTrim(spec: VideoOutput, source: SourceTracks): Trim {
  if (isCopyTrim(spec)) return copyTrim(spec);
  const trim = trimOf(spec, source);
  // Other files are read from their start, and later audio comes from before the start of reading.
  const readsAll = typeof spec.audioTracks === "object" && spec.audioTracks.some(isOwnTimeline);
  return readsAll ? { ...trim, seekMs: 0 } : trim;
}

const isOwnTimeline = ({ url, offsetMs }: RequestedTrack): boolean => url !== null || offsetMs !== 0;

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
  { video, audios, note }: FileTracks,
): Pick<PlannedOutput, "note"> {
  const isLeftOut = spec.video && spec.audio && !spec.audioTracks && isUndecodableAudio(spec, audio);
  const left = isLeftOut && audio?.undecodable ? undecodableAudioNote(audio.undecodable) : note;
  const early = earlyEndNote(trim, video, audios[0]?.track);
  const notes = [left, fallBackNote([video, ...audios.map(({ track }) => track)]), early];
  const sentences = notes.filter((sentence) => sentence !== null);
  return sentences.length > 0 ? { note: sentences.join(" ") } : {};
}
