// Reads the text tracks of a source before its outputs are encoded.
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import { planTexts, textFile, textFormat } from "#shared/plan/text/plan-texts.ts";
import { readPath, type TextTrack } from "#shared/plan/text/text-tracks.ts";
import { RunFiles } from "../run-files/run-files.ts";
import type { TrackFile } from "./extras/fetch-subtitles.ts";
import { type RunDeps, runOnSource } from "./run-planned.ts";

/** Returns the file of each track. Throws an AppError with the failure of ffmpeg, and when the signal aborts. */
export type ReadTexts = (tracks: readonly TextTrack[]) => Promise<(track: TextTrack) => TrackFile>;

export type TextSource = RunInputs & {
  readonly probe: MediaProbe;
  /** The workspace. */
  readonly folder: string;
};

/** Reads all tracks in a single run, except for tracks that were read already. */
export function textReader({ probe, folder, ...inputs }: TextSource, deps: RunDeps): ReadTexts {
  return async (wanted) => {
    const tracks = wanted.filter((track) => readPath(track) === null);
    const files = await RunFiles.create(folder);
    const runs = tracks.length === 0 ? [] : [planTexts(inputs, probe, tracks)];
    await runOnSource(inputs, runs, files, deps);
    return textsIn(files);
  };
}

/** The files of tracks that were read into the folder. */
export const textsIn =
  (files: RunFiles) =>
  (track: TextTrack): TrackFile => ({
    path: readPath(track) ?? files.pathOf(textFile(track)),
    format: textFormat(track),
  });
