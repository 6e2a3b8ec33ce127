// Runs the task of one assignment and reports its result.
import { AppError, assertNever, type Failure, failureOf } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { Reports } from "../link/reports.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { encodeAudio } from "./audio.ts";
import { chunk } from "./chunk/chunk.ts";
import { encode } from "./encode/encode.ts";
import { inspect } from "./inspect/inspect.ts";
import { join } from "./join/join.ts";

/** Why the work on a task was stopped: its job no longer needs it, or this node stops and hands it back. */
export type StopReason = "cancelled" | "handed-back";

/** Runs a task and reports its result or failure. Never rejects. */
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

/** The result or failure to report; null when the job no longer needs it. */
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
    const failure = taskFailure(error, signal);
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
    case "audio":
      return encodeAudio(task, deps);
    case "join":
      return join(task, deps);
    default:
      return assertNever(task);
  }
}

/** Maximum length of an unexpected error's message in a report. */
const MAX_ERROR_CHARS = 300;

function taskFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: "node_lost", message: "The node was stopped and handed its work back" };
  if (error instanceof AppError) return failureOf(error);
  const message = messageOf(error).slice(0, MAX_ERROR_CHARS);
  return { code: "node_failed", message: `Unexpected error of the encoder node: ${message}` };
}
