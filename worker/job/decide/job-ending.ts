// The end of a job and of its outputs, and the notifications of these events. Both are stored in the same step.

import { assertNever, type Failure } from "#shared/errors.ts";
import { isTerminalJob, moveJob } from "#shared/job/job-status.ts";
import { inputPayload, isSent, jobPayload, type NotificationEvent, outputPayload } from "#shared/job/notification.ts";
import type { NotificationPayload } from "#shared/job/notification-payload.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { type NotificationSpec, receiversOf } from "#shared/request/notification-section.ts";
import type { Delivery } from "../../notify/delivery.ts";
import { moveOutputs } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob, viewOutput } from "../views/job-view.ts";
import { payloadMetadata, payloadOutputMetadata } from "../views/metadata-view.ts";

/** Adds an event to the outbox, with its final payload, for each receiver that requested events of this kind. */
export function recordEvent(state: JobState, event: NotificationEvent, output: number | null, now: number): JobState {
  const receivers = receiversOf(state.spec);
  const outbox = [...state.outbox];
  for (const [receiver, notification] of receivers.entries()) {
    if (!isSent(notification.events, event)) continue;
    // The payload depends on the receiver's options.
    const ended = { ...state, outbox, spec: { ...state.spec, notification } };
    outbox.push({ ...deliveryOf(ended, event, output, now), ...(receivers.length > 1 ? { receiver } : {}) });
  }
  // The same outbox without a new delivery: effects compare it.
  return outbox.length === state.outbox.length ? state : { ...state, outbox };
}

function deliveryOf(state: JobState, event: NotificationEvent, output: number | null, now: number): Delivery {
  const { type } = state.spec.notification;
  return {
    id: `msg_${state.spec.id}_${state.outbox.length + 1}`,
    event,
    body: bodyOf(state, event, output),
    createdAt: now,
    attempts: 0,
    earlierAttempts: 0,
    state: type === "none" ? "delivered" : "due",
    nextAt: now,
    lastResult: type === "none" ? "The job notifies nobody" : null,
  };
}

/**
 * SNS takes 256 KiB with the attributes of a message (API Reference, MessageAttributeValue): the client's eight params
 * (notification-section.ts) take at most 26 KiB of them.
 */
const SNS_BODY_BYTES = (256 - 28) * 1024;
/** An entry of the object's storage holds 2 MB, and characters may take two bytes in it. */
const STORED_BODY_CHARS = 900_000;

/** The payload in JSON. A payload that is too large has no metadata and, if that is not enough, no lists of URLs. */
function bodyOf(state: JobState, event: NotificationEvent, output: number | null): string {
  const { notification } = state.spec;
  const full = JSON.stringify(payloadOf(state, event, output));
  if (fits(full, notification)) return full;
  const bare = { ...state, spec: { ...state.spec, notification: { ...notification, metadata: false } } };
  const payload = payloadOf(bare, event, output);
  const short = JSON.stringify(payload);
  return fits(short, notification) ? short : JSON.stringify(payload, withoutLists);
}

const withoutLists = (name: string, value: unknown): unknown => (name === "urls" ? undefined : value);

const fits = (body: string, { type }: NotificationSpec): boolean =>
  body.length <= STORED_BODY_CHARS && (type !== "sns" || new TextEncoder().encode(body).length <= SNS_BODY_BYTES);

function payloadOf(state: JobState, event: NotificationEvent, output: number | null): NotificationPayload {
  const job = viewJob(state);
  switch (event) {
    case "input.transferred":
    case "input.failed":
      return inputPayload(event, job, payloadMetadata(state));
    case "output.completed":
    case "output.failed": {
      const index = output ?? 0;
      const probe = state.spec.notification.metadata ? payloadOutputMetadata(state, index) : null;
      return outputPayload(event, job, viewOutput(state, index), probe, endedShare(state));
    }
    case "job.completed":
    case "job.failed":
    case "job.aborted":
      return jobPayload(event, job, payloadMetadata(state));
    default:
      return assertNever(event);
  }
}

/**
 * Share of the outputs that have ended, without skipped outputs. Clients of the API call it the progress of an event.
 */
function endedShare({ outputs }: JobState): `${number}%` {
  const wanted = outputs.filter(({ phase }) => phase !== "skipped");
  const ended = wanted.filter(({ phase }) => isTerminalOutput(phase));
  return `${Math.floor((100 * ended.length) / Math.max(1, wanted.length))}%`;
}

/** Ends an output as failed and records the event. Skips optional text of a track that the input lacks. */
export function failOutput(state: JobState, index: number, failure: Failure, now: number): JobState {
  const spec = state.spec.outputs[index];
  if (spec?.type === "text" && spec.text.optional && failure.code === "input_track_not_found") {
    return moveOutputs(state, [index], "skip");
  }
  return recordEvent(moveOutputs(state, [index], "fail", { failure }), "output.failed", index, now);
}

/** Ends the job when all its outputs have ended, or a probe when its source was read or failed. A job ends once. */
export function endIfDone(state: JobState, now: number): JobState {
  if (isTerminalJob(state.status) || !state.outputs.every(({ phase }) => isTerminalOutput(phase))) return state;
  if (state.spec.isProbe && !state.input.probe && !state.input.failure) return state;
  const failed = state.input.failure !== null || state.outputs.some(({ phase }) => phase === "failed");
  const status = moveJob(state.status, failed ? "fail" : "complete");
  if (!status) return state;
  const ended = { ...state, status, completedAt: now, version: state.version + 1 };
  return recordEvent(ended, failed ? "job.failed" : "job.completed", null, now);
}
