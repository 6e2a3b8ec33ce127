// The task `audio`: encode the parts of a chunked job that are not encoded in chunks, and store them in the scratch
// bucket for the join.
import { AppError } from "#shared/errors.ts";
import { type AudioPlan, planAudio } from "#shared/plan/tasks/plan-audio.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { audioOf } from "../prepare/attachments.ts";
import { findGains } from "../prepare/find-gains.ts";
import { type OnRuns, runAll } from "../prepare/run-planned.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { madeFile, missingTrack, probeResult } from "../upload/made-file.ts";
import { withRangedSource } from "../workspace/read-ranged.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { inWorkspace } from "../workspace/workspace.ts";
import { type EncodedTrack, storeTracks } from "./chunk/store-tracks.ts";

export function encodeAudio({ probe, outputs, ...task }: TaskOf<"audio">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, (folder) =>
    withRangedSource(task, deps, async (served, rangedDeps) => {
      const { capabilities } = deps;
      const { audioFiles, failed: unfetched } = await audioOf({ outputs, folder }, deps);
      if (unfetched[0]) throw AppError.from(unfetched[0].failure);
      const leveled = await findGains({ ...served, folder, probe, audioFiles }, outputs, rangedDeps);
      const { command, failures } = planAudio({ ...served, probe, audioFiles, outputs: leveled.outputs, capabilities });
      if (failures[0]) throw AppError.from(failures[0].failure);
      if (!command) return { kind: "audio", tracks: [] };
      deps.progress("encoding", 0);
      const onProgress: OnRuns = (done, rate) => deps.progress("encoding", done / command.runs.length, rate);
      const files = await RunFiles.create(folder);
      const failed = await runAll(command.runs, files, onProgress, rangedDeps);
      rangedDeps.signal.throwIfAborted();
      if (failed) throw AppError.from(failed.failure);
      const tracks = await encodedTracks(command, files, rangedDeps);
      const loudness = [...leveled.reports].map(([output, mixes]) => ({ output, mixes }));
      return { kind: "audio", tracks: await storeTracks(tracks, deps), ...(loudness.length > 0 ? { loudness } : {}) };
    }),
  );
}

/** Prefix of files that are not tracks in the names of an output; no track has this prefix. */
const FILE_TRACK = "file-";
export const isOtherFile = ({ track }: Pick<EncodedTrack, "track">): boolean => track.startsWith(FILE_TRACK);

type Command = NonNullable<AudioPlan["command"]>;

/** Throws AppError `encoding_failed` when a file does not exist, or a track has no audio. */
async function encodedTracks({ tracks, files }: Command, runFiles: RunFiles, deps: TaskDeps): Promise<EncodedTrack[]> {
  const audio = tracks.map(async ({ output, track, file }): Promise<EncodedTrack> => {
    const { path } = await madeFile(runFiles.pathOf(file));
    const { streams } = await probeResult(path, deps);
    if (!streams.some(({ codec_type }) => codec_type === "audio")) throw missingTrack("audio");
    return { output, track, path, frames: null };
  });
  const others = files.map(async ({ output, file }, at): Promise<EncodedTrack> => {
    const { path } = await madeFile(runFiles.pathOf(file));
    return { output, track: `${FILE_TRACK}${at + 1}`, path, frames: null };
  });
  return Promise.all([...audio, ...others]);
}
