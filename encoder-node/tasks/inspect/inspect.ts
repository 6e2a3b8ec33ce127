// The task `inspect`: fetch the source, probe it, and find out whether it can be cut into chunks.
import type { TaskOf, TaskResult } from "#shared/protocol/protocol.ts";
import { explainNotMedia } from "../../source/probe/not-media.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { acquireSource, type TaskDeps } from "../../task/task-deps.ts";
import { surveyChunks } from "./chunk-survey.ts";

export async function inspect(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult> {
  // A source that is to be cut is fetched and then stored again: one half each.
  const half = (from: number): TaskDeps["progress"] =>
    task.chunking ? (stage, fraction) => deps.progress(stage, from + fraction / 2) : deps.progress;
  const source = await acquireSource(task.sourceUrl, { ...deps, progress: half(0) });
  try {
    const probing = deps.probing(() => probeSource(deps.ffprobe, source.path, deps.signal));
    const probe = await probing.catch(async (error: unknown) => {
      throw await explainNotMedia(error, source.path);
    });
    if (!task.chunking) return { kind: "inspect", probe };
    const film = { path: source.path, probe, url: task.sourceUrl };
    const chunking = await surveyChunks(film, task.chunking, { ...deps, progress: half(0.5) });
    return { kind: "inspect", probe, chunking };
  } finally {
    source.release();
  }
}
