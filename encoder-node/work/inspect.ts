// The task `inspect`: fetch the source and probe it.
import type { TaskResult } from "#shared/protocol.ts";
import { probeSource } from "../input/probe-source.ts";
import { acquireSource, type TaskDeps } from "./task-deps.ts";

export async function inspect(deps: TaskDeps): Promise<TaskResult> {
  const source = await acquireSource(deps);
  try {
    return { kind: "inspect", probe: await probeSource(deps.ffprobe, source.path, deps.signal) };
  } finally {
    source.release();
  }
}
