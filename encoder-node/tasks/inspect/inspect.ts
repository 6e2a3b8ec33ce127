// The task `inspect`: fetch the source or the needed part of it, probe it, and find its split points.
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { explainNotMedia } from "../../source/probe/not-media.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { checkFolder } from "../../upload/store-in-folder.ts";
import { acquireSource, acquireUnlessSlow } from "../../workspace/acquire-source.ts";
import type { HeldSource } from "../../workspace/source-cache.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inspectOutline } from "./inspect-outline.ts";
import { findSplitPoints } from "./split-points.ts";

export async function inspect(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult> {
  if (task.storesAt !== undefined) await checkFolder(task.storesAt, deps.folders);
  if (task.onlyProbe) return (await inspectOutline(task, deps)) ?? inspectWhole(task, deps);
  const early = task.chunking?.readOrigin ? await inspectOutline(task, deps) : null;
  if (early || task.chunking) return early ?? inspectWhole(task, deps);
  const source = await acquireUnlessSlow(task, deps);
  if ("path" in source) return resultOf(source, task, deps);
  return (await inspectOutline(task, deps)) ?? inspectWhole(task, deps);
}

async function inspectWhole(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult> {
  // For chunks the source is fetched and then copied: each step is half of the progress.
  const halfFrom = (start: number): TaskDeps["progress"] =>
    task.chunking ? (stage, fraction) => deps.progress(stage, start + fraction / 2) : deps.progress;
  const source = await acquireSource(task, { ...deps, progress: halfFrom(0) });
  return resultOf(source, task, { ...deps, progress: halfFrom(0.5) });
}

async function resultOf(source: HeldSource, task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult> {
  try {
    const probing = deps.withProbeSlot(() =>
      deps.trace.step("probe", () => probeSource(deps.ffprobe, source.path, deps.signal)),
    );
    const probe = await probing.catch(async (error: unknown) => {
      throw await explainNotMedia(error, source.path);
    });
    if (!task.chunking) return { kind: "inspect", probe };
    const { path, origin } = source;
    const located = { path, probe, url: task.sourceUrl, secretHeaders: task.sourceHeaders };
    const inspected = { ...located, ...(origin ? { origin } : {}) };
    const chunking = await findSplitPoints(inspected, task.chunking, deps);
    return { kind: "inspect", probe, chunking };
  } finally {
    source.release();
  }
}
