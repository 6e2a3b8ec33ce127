// The task `inspect`: fetch the source or the needed part of it, probe it, and find its split points.

import { isFolderUrl } from "#shared/job/folder-url.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { fetchOutline, type Outline } from "../../source/outline/fetch-outline.ts";
import { explainNotMedia } from "../../source/probe/not-media.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { checkFolder } from "../../upload/store-in-folder.ts";
import type { HeldSource } from "../../workspace/source-cache.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { acquireSource, acquireUnlessSlow, openSource } from "../../workspace/task-source.ts";
import { findSplitPoints, originOf } from "./split-points.ts";

export async function inspect(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult> {
  if (task.storesAt !== undefined) await checkFolder(task.storesAt, deps.folders);
  if (task.onlyProbe) return (await inspectOutline(task, deps)) ?? inspectWhole(task, deps);
  const early = task.chunking?.readOrigin ? await inspectOutline(task, deps) : null;
  if (early || task.chunking) return early ?? inspectWhole(task, deps);
  const source = await acquireUnlessSlow(task, deps);
  if (!source.arriving) return resultOf(source, task, deps);
  source.release();
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
    const chunking = await findSplitPoints({ path: source.path, probe, origin: source.origin }, task, deps);
    return { kind: "inspect", probe, chunking };
  } finally {
    source.release();
  }
}

// Inspects a source from an outline: its header and first frames, without fetching it.

/**
 * Returns the same result as an inspection of the whole source, if the source has an outline. A task that asks for
 * chunks also needs a source that can be split from its outline. Otherwise returns null: the node then fetches the
 * source, for a better error or for the encode that follows. Rejects only when the work is no longer needed.
 */
async function inspectOutline(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult | null> {
  const { signal, maxSourceBytes: maxBytes } = deps;
  if (isFolderUrl(task.sourceUrl)) return null;
  deps.progress("transferring", 0);
  try {
    const { file, release } = await openSource(task, deps);
    const unhold = file.hold();
    try {
      const outline = await deps.trace.step("fetch", () => fetchOutline(file, { maxBytes, signal }));
      return outline && (await outlineResult(outline, task, deps));
    } finally {
      unhold();
      release();
    }
  } catch (error) {
    signal.throwIfAborted();
    deps.log.info("source not inspected from its outline", { error: messageOf(error) });
    return null;
  }
}

async function outlineResult(
  { path, source }: Outline,
  task: TaskOf<"inspect">,
  deps: TaskDeps,
): Promise<TaskResult | null> {
  const origin = originOf(source);
  if (!origin) return null;
  const file = { path, isOutline: true };
  const probe = await deps.withProbeSlot(() =>
    deps.trace.step("probe", () => probeSource(deps.ffprobe, file, deps.signal)),
  );
  if (!task.chunking) return { kind: "inspect", probe };
  const chunking = await findSplitPoints({ ...file, probe, origin }, task, deps);
  return chunking.ok ? { kind: "inspect", probe, chunking } : null;
}
