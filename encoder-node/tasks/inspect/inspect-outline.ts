// Inspects a source from an outline: its header and first frames, without fetching it.
import { join } from "node:path";
import { isFolderUrl } from "#shared/job/folder-url.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { fetchOutline, type Outline } from "../../source/outline/fetch-outline.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inWorkspace } from "../../workspace/workspace.ts";
import { findSplitPoints, originOf } from "./split-points.ts";

/**
 * Returns the same result as an inspection of the whole source, if the source has an outline. A task that asks for
 * chunks also needs a source that can be split from its outline. Otherwise returns null: the node then fetches the
 * source, for a better error or for the encode that follows. Rejects only when the work is no longer needed.
 */
export async function inspectOutline(task: TaskOf<"inspect">, deps: TaskDeps): Promise<TaskResult | null> {
  const { allowSource: allow, maxSourceBytes: maxBytes, signal } = deps;
  if (isFolderUrl(task.sourceUrl)) return null;
  deps.progress("transferring", 0);
  try {
    return await inWorkspace(deps.workFolder, async (folder) => {
      // The name of a fetched source: clients can read it in the probe.
      const { sourceUrl: url, sourceHeaders: secretHeaders } = task;
      const request = { url, secretHeaders, allow, maxBytes, path: join(folder, "input"), signal };
      const outline = await deps.trace.step("fetch", () => fetchOutline(request));
      return outline && (await resultOf(outline, task, deps));
    });
  } catch (error) {
    signal.throwIfAborted();
    deps.log.info("source not inspected from its outline", { error: messageOf(error) });
    return null;
  }
}

async function resultOf(
  { path, source }: Outline,
  { chunking: how, sourceUrl: url }: TaskOf<"inspect">,
  deps: TaskDeps,
): Promise<TaskResult | null> {
  const origin = originOf(source);
  if (!origin) return null;
  const file = { path, isOutline: true };
  const probe = await deps.withProbeSlot(() =>
    deps.trace.step("probe", () => probeSource(deps.ffprobe, file, deps.signal)),
  );
  if (!how) return { kind: "inspect", probe };
  const chunking = await findSplitPoints({ ...file, probe, url, origin }, how, deps);
  return chunking.ok ? { kind: "inspect", probe, chunking } : null;
}
