// Replaces a source whose video states a reserved color matrix by a copy without it, for one encode.
import { AppError } from "#shared/errors.ts";
import { planCleanCopy } from "#shared/plan/plan-clean-copy.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { inWorkspace } from "../../task/workspace.ts";
import type { EncodeDeps, EncodeSource } from "./encode-source.ts";
import { runAll } from "./run-planned.ts";

const FILE = "clean";

/** Runs the work with the source, or with its copy and the copy's probe. Copying takes as long as writing the file. */
export async function withCleanSource<Value>(
  task: TaskOf<"encode">,
  source: EncodeSource,
  deps: EncodeDeps,
  work: (task: TaskOf<"encode">, source: EncodeSource) => Promise<Value>,
): Promise<Value> {
  const run = needsFrames(task) ? planCleanCopy(source, task.probe, FILE) : null;
  if (!run) return work(task, source);
  return inWorkspace(deps.workFolder, async (folder) => {
    const files = await RunFiles.create(folder);
    const failed = await runAll([run], files, () => undefined, { ...deps, reads: [source.source] });
    deps.signal.throwIfAborted();
    if (failed) throw AppError.from(failed.failure);
    const path = files.pathOf(FILE);
    const probe = await probeSource(deps.ffprobe, path, deps.signal);
    return work({ ...task, probe }, { source: path, release: source.release });
  });
}

/** Whether any output is more than a copy of the video. */
const needsFrames = ({ outputs }: TaskOf<"encode">): boolean =>
  outputs.some((spec) => spec.type !== "video" || (spec.video !== null && spec.video.codec !== "copy"));
