// One assignment from the first byte to the last report.
import { AppError, assertNever, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskResult } from "#shared/protocol.ts";
import type { Reports } from "../link/reports.ts";
import { encode } from "./encode.ts";
import { inspect } from "./inspect.ts";
import type { TaskDeps } from "./task-deps.ts";

/** Why the work on a task was stopped: its job wants it no longer, or this node stops and hands it back. */
export type StopReason = "cancelled" | "handed-back";

/** Does a task and reports how it ended. Never rejects. */
export async function runTask(deps: TaskDeps, reports: Reports): Promise<void> {
  const { assignment, log } = deps;
  const { lease, token, task } = assignment;
  const startedAt = Date.now();
  try {
    const result = await work(deps);
    await reports.send({ lease, verb: "complete", body: { token, result } });
    log.info("Task done", { kind: task.kind, durationMs: Date.now() - startedAt });
  } catch (error) {
    if (deps.signal.aborted && deps.signal.reason !== "handed-back")
      return log.info("Task cancelled", { kind: task.kind });
    const failure = failureOf(error, deps.signal);
    log.warn("Task failed", { kind: task.kind, code: failure.code, error: failure.message });
    await reports.send({ lease, verb: "fail", body: { token, failure } });
  }
}

function work(deps: TaskDeps): Promise<TaskResult> {
  const { task } = deps.assignment;
  switch (task.kind) {
    case "inspect":
      return inspect(deps);
    case "encode":
      return encode(task, deps);
    default:
      return assertNever(task);
  }
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: "node_lost", message: "The node was stopped and handed its work back" };
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return { code: "node_failed", message: `The encoder node had a problem of its own: ${messageOf(error)}` };
}
