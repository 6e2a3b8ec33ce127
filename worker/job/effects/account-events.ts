// The events of a job for the stream of its account. Pure.
import { instant } from "#shared/api/task-responses.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import type { Delivery } from "../../notify/delivery.ts";
import type { AccountEvent } from "../../rpc/account.ts";
import type { Emitted } from "../state/emitted.ts";
import { type JobState, newJob } from "../state/job-state.ts";
import { jobPercent } from "../views/job-view.ts";

/** Maximum number of notifications in a call: a body may have 900,000 characters, and a call 32 MiB. */
const MAX_NOTIFICATIONS = 15;

/** True if there are events to send. Of a probe, the account needs only the end. */
export const areEventsDue = ({ emitted, outbox, ...state }: JobState): boolean =>
  (emitted.status !== statusOf(state) && (!state.spec.isProbe || isTerminalJob(state.status))) ||
  emitted.notifications < outbox.length ||
  outbox.some(({ replayedAt = 0 }) => replayedAt > emitted.replayedAt);

/** The next events to send, and the state after they were sent. The same events have the same keys. */
export function dueEvents(state: JobState): { events: AccountEvent[]; emitted: Emitted } {
  const { emitted, outbox } = state;
  const status = statusOf(state);
  const added = outbox.slice(emitted.notifications, emitted.notifications + MAX_NOTIFICATIONS);
  const isReplayed = ({ replayedAt = 0 }: Delivery): boolean => replayedAt > emitted.replayedAt;
  const replayed = outbox.slice(0, emitted.notifications).filter(isReplayed);
  const replayedAt = Math.max(emitted.replayedAt, ...replayed.map((delivery) => delivery.replayedAt ?? 0));
  return {
    events: [
      ...(status === emitted.status ? [] : jobEvents(state)),
      ...added.map((delivery) => notificationEvent(state, delivery, delivery.id)),
      ...replayed.map((delivery) => notificationEvent(state, delivery, `${delivery.id} ${delivery.replayedAt}`)),
    ],
    emitted: { status, notifications: emitted.notifications + added.length, replayedAt },
  };
}

const statusOf = ({ round, status }: Pick<JobState, "round" | "status">): string => `${round} ${status}`;

/**
 * Events of the job's status and, if it was not sent, of its creation: a job may end before a failed call is repeated.
 */
function jobEvents(state: JobState): AccountEvent[] {
  const isUnknown = state.emitted.status === null && state.round === 0 && isTerminalJob(state.status);
  return [...(isUnknown ? [jobEvent(newJob(state.spec))] : []), jobEvent(state)];
}

function jobEvent(state: JobState): AccountEvent {
  const { spec, status, completedAt, outputs } = state;
  const ended = outputs.filter(({ phase }) => isTerminalOutput(phase));
  return {
    kind: "job",
    key: `${spec.id} ${statusOf(state)}`,
    data: {
      id: spec.id,
      status,
      progress: `${jobPercent(state)}%`,
      created_at: instant(spec.createdAt),
      completed_at: completedAt === null ? null : instant(completedAt),
      outputs: {
        completed: ended.filter(({ phase }) => phase === "done").length,
        failed: ended.filter(({ phase }) => phase === "failed").length,
        total: outputs.length,
      },
      ...(spec.tags ? { tags: spec.tags } : {}),
    },
  };
}

const notificationEvent = ({ spec }: JobState, { id, event, body, receiver }: Delivery, key: string): AccountEvent => ({
  kind: "notification",
  key,
  data: { id, job_id: spec.id, event, body, ...(receiver === undefined ? {} : { receiver: receiver + 1 }) },
});
