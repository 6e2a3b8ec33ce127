// Plans the run that reads the text tracks of a source.
import type { MediaProbe } from "../../media/media-probe.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { type RunInputs, readingRun } from "../runs/plan-run.ts";
import type { TextTrack } from "./text-tracks.ts";

/** The file of a track in WebVTT. */
export const textFile = ({ streamIndex }: TextTrack): string => `track-${streamIndex}.vtt`;

/** Name of the file with an ASS track as it is. */
export const assFile = ({ streamIndex }: TextTrack): string => `track-${streamIndex}.ass`;
export const isAss = ({ codec }: TextTrack): boolean => codec === "ass" || codec === "ssa";

/** A run that writes each track to its `textFile`, with the times of the source's timeline. */
export const planTexts = (inputs: RunInputs, probe: MediaProbe, tracks: readonly TextTrack[]): PlannedRun =>
  readingRun(
    inputs,
    probe,
    tracks.flatMap((track) => [
      // A copy keeps the settings of cues. The encoder writes text only.
      ...["-map", `0:${track.streamIndex}`, "-c", track.codec === "webvtt" ? "copy" : "webvtt"],
      ...["-map_metadata", "-1", "-f", "webvtt", textFile(track)],
      ...(isAss(track) ? ["-map", `0:${track.streamIndex}`, "-c", "copy", "-f", "ass", assFile(track)] : []),
    ]),
  );
