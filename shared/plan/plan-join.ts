// Outputs whose pictures were made in chunks, put together: nothing is encoded any more.

import type { HttpStreamOutput, OutputSpec, VideoOutput } from "../job/output-spec.ts";
import { audioFile, chunkFile } from "./chunks/chunk-muxers.ts";
import { checkedArguments } from "./command/checked-arguments.ts";
import { openingArguments, type PlannedInput } from "./command/ffmpeg-arguments.ts";
import { fileArguments } from "./command/muxers.ts";
import type { PlannedOutput } from "./command/output-plan.ts";
import type { PlannedCommand, PlannedRun } from "./command/planned-command.ts";
import { fourCharacterCode } from "./encoders/video-encoders.ts";
import { frameTiming } from "./filters/frame-timing.ts";
import { holdLastFrame } from "./filters/last-frame.ts";
import { tagsFile } from "./plan-audio.ts";
import { VIDEO_TRACK } from "./plan-chunk.ts";
import { type EncodeRequest, planOutput } from "./plan-encode.ts";
import { audioTrack, isEncodedVideo } from "./plan-file.ts";
import { chooseTracks, type SourceTracks } from "./source/source-tracks.ts";
import { NO_TRIM } from "./source/trim.ts";
import { STREAM_START_SECONDS, type StreamTrack } from "./streams/planned-stream.ts";
import { streamArguments } from "./streams/stream-muxers.ts";

export type JoinRequest = Pick<EncodeRequest, "probe" | "outputs" | "capabilities">;

/**
 * Plans what makes outputs of their tracks, in a folder where each track, and each other file of `planSound`, has its planned
 * name. Throws when an output cannot be planned: its chunks could not have been made.
 */
export function planJoin({ probe, outputs, capabilities: can }: JoinRequest): PlannedCommand {
  const source = chooseTracks(probe);
  const plans = outputs.map((spec): { runs: readonly PlannedRun[]; planned: PlannedOutput } => {
    const result = planOutput(spec, source, can);
    if (!result.ok) throw new Error(result.failure.message);
    const { planned, endMs } = result.plan;
    return { planned, runs: argvOf(spec, source, planned).map((argv) => runOf(argv, endMs)) };
  });
  return { runs: plans.flatMap(({ runs }) => runs), outputs: plans.map(({ planned }) => planned) };
}

const runOf = (argv: readonly string[], durationMs: number | null): PlannedRun => ({
  argv: checkedArguments(["-copyts", ...argv]),
  ...{ expectedFrames: null, durationMs },
});

function argvOf(spec: OutputSpec, source: SourceTracks, { stream }: PlannedOutput): string[][] {
  switch (spec.type) {
    case "video":
      return [filmArguments(spec, source)];
    case "httpstream":
      return segmentArguments(spec, stream?.tracks ?? []);
    case "image":
      throw new Error("Pictures of a film are not joined");
  }
}

/** Brings a track of fragments to the film's own line. */
const FROM_ZERO: readonly string[] = ["-itsoffset", String(-STREAM_START_SECONDS)];

const track = (output: number, name: string, options: readonly string[] = []): PlannedInput => ({
  path: chunkFile(output, name),
  options,
});

function filmArguments(spec: VideoOutput, source: SourceTracks): string[] {
  const { index } = spec;
  const sound = audioTrack(spec, NO_TRIM, source);
  const inputs: PlannedInput[] = [
    track(index, VIDEO_TRACK, FROM_ZERO),
    ...(sound ? [{ path: audioFile(spec) }] : []),
    ...(spec.keepsMetadata ? [{ path: tagsFile(index), kind: "tags" as const }] : []),
  ];
  const codec = spec.video?.codec;
  return [
    ...openingArguments(inputs),
    ...["-map", "0:v:0", ...(sound ? ["-map", "1:a:0"] : []), "-c", "copy"],
    ...(codec && codec !== "copy" ? fourCharacterCode(codec, spec.container) : []),
    ...endingArguments(spec, source),
    ...(spec.keepsMetadata ? tagArguments(inputs.length - 1, sound !== null) : []),
    ...fileArguments(index, spec),
  ];
}

/** Fragments do not say how long the last frame lasts. */
function endingArguments({ video, container }: VideoOutput, { video: track }: SourceTracks): readonly string[] {
  if (!video || !track || !isEncodedVideo(video)) return [];
  const timing = frameTiming(video, container, track);
  return holdLastFrame(track, NO_TRIM, { codec: video.codec, container, isStream: false, isLast: true, timing })
    .lengthArguments;
}

/** The film's own tags and those of its sound; not what the file of the picture track says of itself. */
const tagArguments = (tagsInput: number, hasSound: boolean): string[] => [
  ...["-map_metadata", String(tagsInput), "-map_metadata:s:v", "-1"],
  ...(hasSound ? ["-map_metadata:s:a:0", "1:s:a:0"] : []),
];

/** Segments of MPEG-TS, of pictures and of sound. Fragmented MP4 is there already. */
function segmentArguments({ index, segmentDurationMs }: HttpStreamOutput, tracks: readonly StreamTrack[]): string[][] {
  const segmented = tracks.filter(({ ts }) => ts !== null);
  if (segmented.length === 0) return [];
  // The muxer moves them back to where they are.
  const inputs = segmented.map(({ name }) => track(index, name, FROM_ZERO));
  const outputs = segmented.flatMap(({ kind, ts }, at) => [
    ...["-map", `${at}:0`, "-c", "copy", ...streamArguments({ fmp4: null, ts }, kind, segmentDurationMs)],
  ]);
  return [[...openingArguments(inputs), ...outputs]];
}
