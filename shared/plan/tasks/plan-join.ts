// Plans the runs that make outputs of joined tracks without encoding.
import type { HttpStreamOutput, OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import { changesInTime } from "../../job/overlays.ts";
import { audioFile, chunkFile, pipeFile } from "../chunks/chunk-muxers.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { quoted } from "../command/filter-text.ts";
import { fileArguments, fileName, strictArguments } from "../command/muxers.ts";
import { openingArguments, type PlannedInput } from "../command/opening-arguments.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { fourCharacterCode } from "../encoders/video-encoders.ts";
import { frameTiming } from "../filters/frame-timing.ts";
import { holdLastFrame } from "../filters/last-frame.ts";
import { chapterInput } from "../outputs/file-chapters.ts";
import { traitArguments } from "../outputs/map-audio.ts";
import type { PlannedCommand, PlannedOutput } from "../outputs/output-plan.ts";
import { fileTrim, isEncodedVideo, textArguments, textsName } from "../outputs/plan-file.ts";
import { outputAudios } from "../source/output-tracks.ts";
import { chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { STREAM_START_SECONDS, type StreamTrack } from "../streams/planned-stream.ts";
import { streamArguments } from "../streams/stream-muxers.ts";
import { tagsFile } from "./plan-audio.ts";
import { VIDEO_TRACK } from "./plan-chunk.ts";
import { type EncodeRequest, planOutput } from "./plan-encode.ts";

export type JoinRequest = Pick<EncodeRequest, "probe" | "outputs" | "capabilities"> & {
  /**
   * Folder with each track, each other file of `planAudio`, and text tracks (`textsName`), under their planned names;
   * left out: the run's folder.
   */
  readonly folder?: string;
  /** The videos of streams grow, and are read from pipes (`pipeFile`). False by default. */
  readonly isGrowing?: boolean;
};

/**
 * Plans the runs that make outputs of their tracks. Throws if an output cannot be planned, because its chunks could not
 * have been made.
 */
export function planJoin({ probe, outputs, capabilities, folder, isGrowing = false }: JoinRequest): PlannedCommand {
  const source = chooseTracks(probe);
  const plans = outputs.map((spec): { runs: readonly PlannedRun[]; planned: PlannedOutput } => {
    const result = planOutput(spec, source, capabilities);
    if (!result.ok) throw new Error(result.error.message);
    const { planned, endMs } = result.value;
    const runs = runsOf(spec, source, { ...planned, isGrowing }).map((run) => joinRun(run, endMs, folder));
    return { planned, runs };
  });
  return { runs: plans.flatMap(({ runs }) => runs), outputs: plans.map(({ planned }) => planned) };
}

/** `text`: content of a file that the run itself needs in its folder. */
type JoinInput = PlannedInput & { readonly text?: string };
/** `inputs` by the planned names of their files; `outputs`: ffmpeg's options after the inputs. */
type JoinRun = { readonly inputs: readonly JoinInput[]; readonly outputs: readonly string[] };

function joinRun({ inputs, outputs }: JoinRun, durationMs: number | null, folder: string | undefined): PlannedRun {
  const place = (input: JoinInput): PlannedInput =>
    folder === undefined || input.text !== undefined ? input : { ...input, path: `${folder}/${input.path}` };
  const placed = inputs.map(place);
  const texts = inputs.flatMap(({ path, text }) => (text === undefined ? [] : [{ file: path, text }]));
  const reads = placed.filter((_, at) => inputs[at]?.text === undefined).map(({ path }) => path);
  return {
    argv: checkedArguments(["-copyts", ...openingArguments(placed), ...outputs]),
    ...(folder === undefined ? {} : { reads }),
    ...(texts.length > 0 ? { texts } : {}),
    network: "none",
    inHardware: false,
    expectedFrames: null,
    durationMs,
  };
}

type JoinedOutput = Pick<PlannedOutput, "stream"> & { readonly isGrowing: boolean };

function runsOf(spec: OutputSpec, source: SourceTracks, { stream, isGrowing }: JoinedOutput): JoinRun[] {
  switch (spec.type) {
    case "video":
      return [fileJoinRun(spec, source)];
    case "httpstream":
      return segmentRuns(spec, stream?.tracks ?? [], isGrowing);
    case "image":
    case "text":
      throw new Error("The output is not encoded in chunks");
  }
}

/** Moves a track of fragments to the source's own timeline. */
const FROM_ZERO: readonly string[] = ["-itsoffset", String(-STREAM_START_SECONDS)];

const trackInput = (output: number, name: string, file = chunkFile): PlannedInput => ({
  path: file(output, name),
  options: FROM_ZERO,
});

function fileJoinRun(spec: VideoOutput, source: SourceTracks): JoinRun {
  const { index, container } = spec;
  const trim = fileTrim(spec, source);
  const selected = outputAudios(spec, trim, source);
  if (!selected.ok) throw new Error(selected.error.message);
  const { audios } = selected.value;
  const traits = audios.flatMap((audio) => audio.traits ?? []);
  const named = traits.length > 0 ? traitArguments(spec, traits) : null;
  const before: JoinInput[] = [
    trackInput(index, VIDEO_TRACK),
    ...(audios.length > 0 ? [{ path: audioFile(spec) }] : []),
    ...(spec.keepsMetadata ? [{ path: tagsFile(index), kind: "tags" as const }] : []),
  ];
  const texts = spec.subtitles ? [{ path: textsName(index) }] : [];
  const inputs = [...before, ...(named?.inputs ?? []), ...texts];
  const chapters = chapterInput(spec, source, trim, true);
  const codec = spec.video?.codec;
  const outputs = [
    ...["-map", "0:v:0", ...audios.flatMap((_, at) => ["-map", `1:a:${at}`]), "-c", "copy"],
    // Tags of streams are not copied by themselves beside the other tags.
    ...textArguments({ ...spec, keepsMetadata: false }).map((argument) => numbered(argument, inputs.length - 1)),
    ...(codec && codec !== "copy" ? fourCharacterCode(codec, container) : []),
    ...audios.flatMap((audio) => strictArguments(container, audio.spec.codec)).slice(0, 2),
    ...timingArguments(spec, source),
    ...(spec.keepsMetadata ? tagArguments(before.length - 1, audios.length > 0 && !named) : []),
    ...(named?.argv ?? []).map((argument) => numbered(argument, before.length)),
    ...(audioFile(spec).endsWith(".mkv") ? [] : LAST_PACKET),
    ...fileArguments({ ...spec, ...(chapters ? { chapters: String(inputs.length) } : {}) }, fileName(index, container)),
  ];
  return { inputs: [...inputs, ...(chapters ? [chapters] : [])], outputs };
}

/** Replaces the name of an input by its number. */
const numbered = (argument: string, input: number): string => argument.replace(/^@[\w-]+(?=:)/, String(input));

/** ffmpeg reads the last packet of late audio in MP4 without a duration, and players would leave the packet out. */
const LAST_PACKET = ["-bsf:a", `setts=pts=PTS:dts=DTS:duration=${quoted("if(DURATION,DURATION,PREV_OUTDURATION)")}`];

/** By itself a copy into avi counts half frames, and keeps the form and the code that H.264 has in MP4. */
const AVI_H264: readonly string[] = ["-bsf:v", "h264_mp4toannexb", "-tag:v", "H264"];

/** Fragments do not state the duration of the last frame. */
function timingArguments(spec: VideoOutput, source: SourceTracks): readonly string[] {
  const { video, container } = spec;
  const { video: track } = source;
  if (!video || !track || !isEncodedVideo(video)) return [];
  const timing = frameTiming({ ...video, isCaptioned: changesInTime(spec) }, container, track);
  if (container === "avi") return ["-r:v", String(timing.fps), ...AVI_H264];
  const hold = { codec: video.codec, container, isStream: false, isLast: true, timing };
  return holdLastFrame(track, fileTrim(spec, source), hold).lengthArguments;
}

/** Copies the tags of the source and of its audio, and none of the tags of the video track's file. */
const tagArguments = (tagsInput: number, hasAudio: boolean): string[] => [
  ...["-map_metadata", String(tagsInput), "-map_metadata:s:v", "-1"],
  ...(hasAudio ? ["-map_metadata:s:a:0", "1:s:a:0"] : []),
];

/** Runs for the MPEG-TS segments of all tracks, at most one. Fragmented MP4 exists already. */
function segmentRuns(
  { index, segmentDurationMs }: HttpStreamOutput,
  tracks: readonly StreamTrack[],
  isGrowing: boolean,
): JoinRun[] {
  const segmented = tracks.filter(({ ts }) => ts !== null);
  if (segmented.length === 0) return [];
  // The muxer moves the tracks back to their own times.
  const inputs = segmented.map(({ name, kind }) =>
    trackInput(index, name, isGrowing && kind === "video" ? pipeFile : chunkFile),
  );
  const outputs = segmented.flatMap(({ kind, ts }, at) => [
    ...["-map", `${at}:0`, "-c", "copy", ...streamArguments({ fmp4: null, ts }, kind, segmentDurationMs)],
  ]);
  return [{ inputs, outputs }];
}
