// The end of a job, and the notifications that its events make. Both are written in the step that makes them true.

import { assertNever } from "#shared/errors.ts";
import { isTerminalJob, moveJob } from "#shared/job-status.ts";
import {
  ALWAYS_SENT,
  inputPayload,
  jobPayload,
  type NotificationEvent,
  type NotificationPayload,
  outputPayload,
} from "#shared/notification.ts";
import { isTerminalOutput } from "#shared/output-status.ts";
import type { JobState } from "./job-state.ts";
import { outputMetadata, payloadMetadata, viewJob, viewOutput } from "./job-view.ts";

/** Puts an event into the outbox, its payload frozen, if the client wants events of this kind. */
export function record(state: JobState, event: NotificationEvent, output: number | null, now: number): JobState {
  if (!ALWAYS_SENT.has(event) && !state.spec.notification.events) return state;
  const full = JSON.stringify(payloadOf(state, event, output));
  const body = full.length <= MAX_BODY_CHARS ? full : JSON.stringify(payloadOf(withoutMetadata(state), event, output));
  const id = `msg_${state.spec.id}_${state.outbox.length + 1}`;
  const delivery = {
    id,
    event,
    body,
    createdAt: now,
    attempts: 0,
    state: "due",
    nextAt: now,
    lastResult: null,
  } as const;
  return { ...state, outbox: [...state.outbox, delivery] };
}

/** A payload that would not fit into the object's storage (2 MB, characters of two bytes) goes without metadata. */
const MAX_BODY_CHARS = 900_000;
const withoutMetadata = (state: JobState): JobState => ({
  ...state,
  spec: { ...state.spec, notification: { ...state.spec.notification, metadata: false } },
});

function payloadOf(state: JobState, event: NotificationEvent, output: number | null): NotificationPayload {
  const job = viewJob(state);
  switch (event) {
    case "input.transferred":
    case "input.failed":
      return inputPayload(event, job, payloadMetadata(state));
    case "output.completed":
    case "output.failed": {
      const index = output ?? 0;
      const probe = state.spec.notification.metadata ? outputMetadata(state, index) : null;
      return outputPayload(event, job, viewOutput(state, index), probe);
    }
    case "job.completed":
    case "job.failed":
    case "job.aborted":
      return jobPayload(event, job, payloadMetadata(state));
    default:
      return assertNever(event);
  }
}

/** Ends the job when all its outputs have ended; a job ends once. */
export function endIfDone(state: JobState, now: number): JobState {
  if (isTerminalJob(state.status) || !state.outputs.every(({ phase }) => isTerminalOutput(phase))) return state;
  const failed = state.input.failure !== null || state.outputs.some(({ phase }) => phase === "failed");
  const status = moveJob(state.status, failed ? "fail" : "complete");
  if (!status) return state;
  const ended = { ...state, status, completedAt: now, version: state.version + 1 };
  return record(ended, failed ? "job.failed" : "job.completed", null, now);
}
