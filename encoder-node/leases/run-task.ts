// Runs the task of one assignment and reports its result.
import { AppError, assertNever, type Failure, failureOf } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { checkUrl } from "#shared/network/address-policy.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { TaskOutcome } from "#shared/protocol/frames.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { Reports } from "../link/reports.ts";
import { encodeAudio } from "../tasks/audio.ts";
import { chunk } from "../tasks/chunk/chunk.ts";
import { encode } from "../tasks/encode/encode.ts";
import { inspect } from "../tasks/inspect/inspect.ts";
import { join } from "../tasks/join/join.ts";
import { readSourceTexts } from "../tasks/texts.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";

/** The reason to stop the work on a task: its job no longer needs it, or this node stops and hands it back. */
export type StopReason = "cancelled" | "handed-back";

/** Codes of failures with which a node returns a task. */
const RETURNING: ReadonlySet<string> = new Set(["node_busy", "node_lost"]);

/** Runs a task, reports its result or failure, and returns the outcome. Never rejects. */
export async function runTask(deps: TaskDeps, reports: Reports): Promise<TaskOutcome> {
  const { outcome, error } = await runReported(deps, reports);
  deps.trace.end(outcome, error);
  return outcome;
}

/** `error` is the code of a failure. */
type Run = { readonly outcome: TaskOutcome; readonly error: string | null };

async function runReported(deps: TaskDeps, reports: Reports): Promise<Run> {
  const { assignment, log, trace } = deps;
  const { lease, token, task } = assignment;
  try {
    const ended = await workEnded(deps);
    if (ended === null) {
      log.info("task cancelled", { kind: task.kind });
      return { outcome: "cancelled", error: null };
    }
    if ("result" in ended) {
      const body = { token, ...ended, ...ranCommands(deps) };
      await trace.step("report", () => reports.send({ lease, verb: "complete", body }));
      return { outcome: "done", error: null };
    }
    const body = { token, ...ended, ...ranCommands(deps) };
    await trace.step("report", () => reports.send({ lease, verb: "fail", body }));
    const { code } = ended.failure;
    return { outcome: RETURNING.has(code) ? "returned" : "failed", error: code };
  } catch (error) {
    log.error("task not reported", { kind: task.kind, error: messageOf(error) });
    return { outcome: "failed", error: "node_failed" };
  }
}

const ranCommands = ({ commands }: TaskDeps): { commands?: CommandReport[] } => {
  const reported = commands.reports();
  return reported.length === 0 ? {} : { commands: reported };
};

type Ended = { result: TaskResult } | { failure: Failure };

/** Returns the result or failure to report; null when the job no longer needs it. */
async function workEnded(deps: TaskDeps): Promise<Ended | null> {
  const { log, signal } = deps;
  const { kind } = deps.assignment.task;
  const startedAt = Date.now();
  try {
    const result = await work(deps);
    log.info("task completed", { kind, durationMs: Date.now() - startedAt });
    return { result };
  } catch (error) {
    if (signal.aborted && signal.reason !== "handed-back") return null;
    const failure = ownFailure(taskFailure(error, signal), deps);
    log.warn("task failed", { kind, code: failure.code, error: failure.message });
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
    case "texts":
      return readSourceTexts(task, deps);
    case "join":
      return join(task, deps);
    default:
      return assertNever(task);
  }
}

/**
 * The control plane has checked or signed the URL of the source. If only this node refuses it, another node can do the
 * task and the client is not at fault.
 */
function ownFailure(failure: Failure, { assignment: { task, ownUrls }, allowPrivate }: TaskDeps): Failure {
  if (failure.code !== "input_address_not_allowed" || !("sourceUrl" in task)) return failure;
  const isOwn = ownUrls?.includes("source") ?? false;
  if (!isOwn && checkUrl(task.sourceUrl, allowPrivate).ok) return failure;
  const { host } = new URL(task.sourceUrl);
  const advice = isOwn ? "start it again" : "start it with --allow-private or --allow-origin";
  return {
    code: "node_failed",
    message: `The node does not allow the input's host ${host}. The service does: ${advice}`,
  };
}

/** Maximum length of an unexpected error's message in a report. */
const MAX_ERROR_CHARS = 300;

function taskFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: "node_lost", message: "The node was stopped and handed its work back" };
  if (error instanceof AppError) return failureOf(error);
  const message = messageOf(error).slice(0, MAX_ERROR_CHARS);
  return { code: "node_failed", message: `Unexpected error of the encoder node: ${message}` };
}
