// Plans the run that reads the text tracks of a source.
import type { MediaProbe } from "../../media/media-probe.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { type RunInputs, readingRun } from "../runs/plan-run.ts";
import type { TextTrack } from "./text-tracks.ts";

/** Formats of the files with tracks, and their encoders. Text that is not copied keeps its milliseconds in SubRip. */
const READING: Readonly<Record<string, readonly [format: "ass" | "vtt" | "srt", encoder: string]>> = {
  ass: ["ass", "copy"],
  ssa: ["ass", "copy"],
  webvtt: ["vtt", "copy"],
  subrip: ["srt", "copy"],
  srt: ["srt", "copy"],
};
const readingOf = ({ codec }: TextTrack) => READING[codec] ?? (["srt", "srt"] as const);

/** The format of the file with a track. */
export const textFormat = (track: TextTrack): "ass" | "vtt" | "srt" => readingOf(track)[0];
export const textFile = (track: TextTrack): string => `track-${track.streamIndex}.${textFormat(track)}`;

const MUXERS = { ass: "ass", vtt: "webvtt", srt: "srt" } as const;

/** A run that writes each track to its `textFile`, with the times of the source's timeline. */
export const planTexts = (inputs: RunInputs, probe: MediaProbe, tracks: readonly TextTrack[]): PlannedRun =>
  readingRun(
    inputs,
    probe,
    tracks.flatMap((track) => [
      ...["-map", `0:${track.streamIndex}`, "-c", readingOf(track)[1], "-map_metadata", "-1"],
      ...["-f", MUXERS[textFormat(track)], textFile(track)],
    ]),
  );
