// The trace of a task: its span, and the spans of its steps.
import { createHash, randomBytes } from "node:crypto";
import { AppError } from "#shared/errors.ts";
import { parseLeaseId } from "#shared/ids.ts";
import { partsOf } from "#shared/network/trace-context.ts";
import type { TaskOutcome } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Attributes, Span } from "./otlp-json.ts";

/** `client`: steps that wait for another machine. */
const STEPS = {
  fetch: "client",
  probe: "internal",
  ffmpeg: "internal",
  measure: "internal",
  upload: "client",
  report: "client",
} as const;
export type Step = keyof typeof STEPS;

/** Ends a span. `error`: the reason why the step failed; null: success. */
export type EndSpan = (error: string | null, attributes?: Attributes) => void;

export interface TaskTrace {
  /** Null when the task belongs to no trace. */
  readonly traceId: string | null;
  /** Starts the span of a step. */
  begin(step: Step, attributes?: Attributes): EndSpan;
  /** Runs a step in a span. */
  step<Value>(step: Step, work: () => Promise<Value>, attributes?: Attributes): Promise<Value>;
  /** Ends the span of the task. `error` is the code of its failure. */
  end(outcome: TaskOutcome, error: string | null): void;
}

export type TracedTask = Pick<Assignment, "jobId" | "lease" | "kind" | "round" | "trace">;

/**
 * Traces a task, and passes its spans to `add` as they end; null: the spans are not wanted. Spans of requests that are
 * not sampled are not wanted either. A job without a trace gets a trace id that all nodes derive from its id.
 */
export function traceTask(task: TracedTask, add: ((span: Span) => void) | null): TaskTrace {
  const parent = task.trace ? partsOf(task.trace) : null;
  const traceId = parent?.traceId ?? (add ? derivedTraceId(task.jobId) : null);
  if (!add || traceId === null || parent?.isSampled === false) return unrecorded(traceId);
  // A clock that is set during a task must not change durations.
  const offsetMs = Date.now() - performance.now();
  const now = (): number => offsetMs + performance.now();
  const spanId = newSpanId();
  const startMs = now();
  const common = { traceId, traceState: task.trace?.tracestate };
  const begin: TaskTrace["begin"] = (step, first = {}) => {
    const startMs = now();
    return (error, attributes = {}) =>
      add({
        ...common,
        spanId: newSpanId(),
        parent: { spanId, isRemote: false },
        name: step,
        kind: STEPS[step],
        startMs,
        endMs: now(),
        attributes: { ...first, ...attributes },
        error,
      });
  };
  return {
    traceId,
    begin,
    step: (name, work, attributes) => stepOf(begin, name, work, attributes),
    end: (outcome, error) =>
      add({
        ...common,
        spanId,
        parent: parent && { spanId: parent.spanId, isRemote: true },
        name: `task ${task.kind}`,
        kind: "consumer",
        startMs,
        endMs: now(),
        attributes: { ...attributesOf(task), "copra.outcome": outcome },
        error,
      }),
  };
}

const unrecorded = (traceId: string | null): TaskTrace => ({
  traceId,
  begin: () => () => undefined,
  step: (_, work) => work(),
  end: () => undefined,
});

/** The trace of work that is not traced. */
export const NO_TRACE: TaskTrace = unrecorded(null);

async function stepOf<Value>(
  begin: TaskTrace["begin"],
  step: Step,
  work: () => Promise<Value>,
  attributes: Attributes = {},
): Promise<Value> {
  const end = begin(step, attributes);
  try {
    const value = await work();
    end(null);
    return value;
  } catch (error) {
    // Messages may contain names that only the operator's log may contain.
    end(error instanceof AppError ? error.code : "interrupted");
    throw error;
  }
}

function attributesOf({ jobId, lease, kind, round }: TracedTask): Attributes {
  const attempt = parseLeaseId(lease)?.attempt ?? 0;
  return {
    "copra.job": jobId,
    "copra.lease": lease,
    "copra.kind": kind,
    "copra.round": round,
    ...(Number.isInteger(attempt) ? { "copra.attempt": attempt } : {}),
  };
}

/** 16 bytes, derived from the job's id alone. */
const derivedTraceId = (jobId: string): string =>
  createHash("sha256").update(`copra trace ${jobId}`).digest("hex").slice(0, 32);

const newSpanId = (): string => randomBytes(8).toString("hex");
