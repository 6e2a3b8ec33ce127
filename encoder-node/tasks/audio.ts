// The task `sound`: all of a film that is not encoded in chunks, kept in the scratch bucket for whoever joins them.
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { planSound, type SoundPlan } from "#shared/plan/plan-audio.ts";
import type { TaskOf, TaskResult } from "#shared/protocol/protocol.ts";
import { readingSource } from "../task/ranged-sources.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { inWorkspace } from "../task/workspace.ts";
import { madeFile, missingTrack, probeResult } from "../upload/made-file.ts";
import type { MadeTrack } from "./chunk/chunk-check.ts";
import { storeTracks } from "./chunk/chunk-store.ts";
import { runAll } from "./encode/run-planned.ts";

export function sound({ probe, outputs, ...task }: TaskOf<"sound">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, (folder) =>
    readingSource(task, deps, async (served, reading) => {
      const { command, refusals } = planSound({ ...served, probe, outputs, can: deps.capabilities });
      const [refusal] = refusals;
      if (refusal) throw new AppError(refusal.failure.code, refusal.failure.message);
      if (!command) return { kind: "sound", tracks: [] };
      deps.progress("encoding", 0);
      const tell = (done: number): void => deps.progress("encoding", done / command.runs.length);
      const failed = await runAll(command.runs, folder, tell, reading);
      reading.signal.throwIfAborted();
      if (failed) throw new AppError(failed.failure.code, failed.failure.message);
      return { kind: "sound", tracks: await storeTracks(await madeOf(command, folder, reading), deps) };
    }),
  );
}

/** Names, among an output's tracks, of other files that go along; no track is called that. */
const FILE_TRACK = "file-";
export const isOtherFile = ({ track }: Pick<MadeTrack, "track">): boolean => track.startsWith(FILE_TRACK);

type Command = NonNullable<SoundPlan["command"]>;

/** Throws AppError `encoding_failed` when something is not there, or has no sound. */
async function madeOf({ tracks, files }: Command, folder: string, deps: TaskDeps): Promise<MadeTrack[]> {
  const sounds = tracks.map(async ({ output, track, file }): Promise<MadeTrack> => {
    const { path } = await madeFile(join(folder, file));
    const { streams } = await probeResult(path, deps);
    if (!streams.some(({ codec_type }) => codec_type === "audio")) throw missingTrack("audio");
    return { output, track, path, frames: null };
  });
  const others = files.map(async ({ output, file }, at): Promise<MadeTrack> => {
    const { path } = await madeFile(join(folder, file));
    return { output, track: `${FILE_TRACK}${at + 1}`, path, frames: null };
  });
  return Promise.all([...sounds, ...others]);
}
