// One assignment from the first byte to the last report.
import { AppError, assertNever, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskResult } from "#shared/protocol/protocol.ts";
import type { Reports } from "../link/reports.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { sound } from "./audio.ts";
import { chunk } from "./chunk/chunk.ts";
import { encode } from "./encode/encode.ts";
import { inspect } from "./inspect/inspect.ts";
import { join } from "./join/join.ts";

/** Why the work on a task was stopped: its job wants it no longer, or this node stops and hands it back. */
export type StopReason = "cancelled" | "handed-back";

/** Does a task and reports how it ended. Never rejects. */
export async function runTask(deps: TaskDeps, reports: Reports): Promise<void> {
  const { assignment, log } = deps;
  const { lease, token, task } = assignment;
  try {
    const outcome = await outcomeOf(deps);
    if (outcome === null) log.info("Task cancelled", { kind: task.kind });
    else if ("failure" in outcome) await reports.send({ lease, verb: "fail", body: { token, ...outcome } });
    else await reports.send({ lease, verb: "complete", body: { token, ...outcome } });
  } catch (error) {
    log.error("Task not reported", { kind: task.kind, error: messageOf(error) });
  }
}

type Outcome = { result: TaskResult } | { failure: Failure };

/** What came of the work; null when nobody wants to know any more. */
async function outcomeOf(deps: TaskDeps): Promise<Outcome | null> {
  const { log, signal } = deps;
  const { kind } = deps.assignment.task;
  const startedAt = Date.now();
  try {
    const result = await work(deps);
    log.info("Task done", { kind, durationMs: Date.now() - startedAt });
    return { result };
  } catch (error) {
    if (signal.aborted && signal.reason !== "handed-back") return null;
    const failure = failureOf(error, signal);
    log.warn("Task failed", { kind, code: failure.code, error: failure.message });
    return { failure };
  }
}

function work(deps: TaskDeps): Promise<TaskResult> {
  const { task } = deps.assignment;
  switch (task.kind) {
    case "inspect":
      return inspect(task, deps);
    case "encode":
      return encode(task, deps);
    case "chunk":
      return chunk(task, deps);
    case "sound":
      return sound(task, deps);
    case "join":
      return join(task, deps);
    default:
      return assertNever(task);
  }
}

/** Longest part of an error's own words that is passed on. */
const MAX_QUOTE = 300;

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: "node_lost", message: "The node was stopped and handed its work back" };
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const words = messageOf(error).slice(0, MAX_QUOTE);
  return { code: "node_failed", message: `The encoder node had a problem of its own: ${words}` };
}
