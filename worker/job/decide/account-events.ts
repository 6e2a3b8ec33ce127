// The events of a job for the stream of its account. Pure.
import { instant } from "#shared/api/task-responses.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import type { Delivery } from "../../notify/delivery.ts";
import type { AccountEvent } from "../../rpc/account.ts";
import { type JobState, newJob } from "../state/job-state.ts";
import type { Listened } from "../state/listened.ts";
import { jobPercent } from "../views/job-view.ts";

/** Notifications that are sent at a time: a body may have 900,000 characters, and a call 32 MiB. */
const MAX_NOTIFICATIONS = 15;

/**
 * Somebody listens until a time (ms since 1970). What happened before the job knew it is not sent, except a delivery
 * (`due`) that begins now.
 */
export function listenUntil(state: JobState, until: number, now: number, due: Delivery | null = null): JobState {
  const { listened, outbox } = state;
  if (until <= listened.until || until <= now) return state;
  if (listened.until > now) return { ...state, listened: { ...listened, until } };
  if (due && due.attempts === 0) {
    const notifications = outbox.findIndex(({ id }) => id === due.id);
    return { ...state, listened: { until, status: null, notifications, replayedAt: now } };
  }
  const isReplay = due?.replayedAt !== undefined && due.attempts === due.earlierAttempts;
  const replayedAt = isReplay ? (due.replayedAt ?? now) - 1 : now;
  return { ...state, listened: { until, status: statusOf(state), notifications: outbox.length, replayedAt } };
}

/** A new job, whose creation is an event if somebody listens. */
export const startListened = (state: JobState, until: number): JobState =>
  until > 0 ? { ...state, listened: { ...state.listened, until } } : state;

/** Whether there are events to send, if somebody still listens. */
export const areEventsDue = ({ listened, outbox, ...state }: JobState): boolean =>
  listened.until > 0 &&
  (listened.status !== statusOf(state) ||
    listened.notifications < outbox.length ||
    outbox.some(({ replayedAt = 0 }) => replayedAt > listened.replayedAt));

/** The next events to send, and what was sent then. The same events have the same keys. */
export function dueEvents(state: JobState): { events: AccountEvent[]; listened: Listened } {
  const { listened, outbox } = state;
  const status = statusOf(state);
  const added = outbox.slice(listened.notifications, listened.notifications + MAX_NOTIFICATIONS);
  const isReplayed = ({ replayedAt = 0 }: Delivery): boolean => replayedAt > listened.replayedAt;
  const replayed = outbox.slice(0, listened.notifications).filter(isReplayed);
  const replayedAt = Math.max(listened.replayedAt, ...replayed.map((delivery) => delivery.replayedAt ?? 0));
  return {
    events: [
      ...(status === listened.status ? [] : jobEvents(state)),
      ...added.map((delivery) => notificationEvent(state, delivery, delivery.id)),
      ...replayed.map((delivery) => notificationEvent(state, delivery, `${delivery.id} ${delivery.replayedAt}`)),
    ],
    listened: { ...listened, status, notifications: listened.notifications + added.length, replayedAt },
  };
}

const statusOf = ({ round, status }: Pick<JobState, "round" | "status">): string => `${round} ${status}`;

/** The job's status, after its creation if that was not sent: it may end before what failed is tried again. */
function jobEvents(state: JobState): AccountEvent[] {
  const isUnknown = state.listened.status === null && state.round === 0 && isTerminalJob(state.status);
  return [...(isUnknown ? [jobEvent(newJob(state.spec))] : []), jobEvent(state)];
}

function jobEvent(state: JobState): AccountEvent {
  const { spec, status, completedAt, outputs } = state;
  const ended = outputs.filter(({ phase }) => isTerminalOutput(phase));
  return {
    kind: "job",
    key: `${spec.id} ${statusOf(state)}`,
    data: {
      ...{ id: spec.id, status, progress: `${jobPercent(state)}%` },
      created_at: instant(spec.createdAt),
      completed_at: completedAt === null ? null : instant(completedAt),
      outputs: {
        completed: ended.filter(({ phase }) => phase === "done").length,
        failed: ended.filter(({ phase }) => phase === "failed").length,
        total: outputs.length,
      },
    },
  };
}

const notificationEvent = ({ spec }: JobState, { id, event, body }: Delivery, key: string): AccountEvent => ({
  ...{ kind: "notification", key },
  data: { id, job_id: spec.id, event, body },
});
