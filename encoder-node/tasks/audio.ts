// The task `audio`: encode the parts of a chunked job that are not encoded in chunks, and store them in the scratch
// bucket for the join.
import { type AudioPlan, planAudio } from "#shared/plan/tasks/plan-audio.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { failOnFailedOutput, prepare } from "../prepare/prepare.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { madeFile, missingTrack, probeResult } from "../upload/made-file.ts";
import { type OnRuns, runOnSource } from "../workspace/run-planned.ts";
import { type EncodedTrack, storeTracks } from "../workspace/scratch.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { withRangedSource } from "../workspace/task-source.ts";

export function encodeAudio(task: TaskOf<"audio">, deps: TaskDeps): Promise<TaskResult> {
  return withRangedSource(task, deps, async (source, rangedDeps) => {
    const work = { ...source, outputs: task.outputs, onEnded: failOnFailedOutput };
    const prepared = await prepare(["audio", "gains"], work, rangedDeps);
    const { command, failures } = planAudio({ ...prepared, capabilities: deps.capabilities });
    failOnFailedOutput(failures);
    if (!command) return { kind: "audio", tracks: [] };
    deps.progress("encoding", 0);
    const files = await RunFiles.create(source.folder);
    const onProgress: OnRuns = (done, rate) => deps.progress("encoding", done / command.runs.length, rate);
    await runOnSource(prepared, command.runs, files, rangedDeps, onProgress);
    const tracks = await storeTracks(await encodedTracks(command, files, rangedDeps), deps);
    const loudness = [...prepared.loudness].map(([output, mixes]) => ({ output, mixes }));
    return { kind: "audio", tracks, ...(loudness.length > 0 ? { loudness } : {}) };
  });
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
