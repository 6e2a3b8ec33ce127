// The server-sent events (HTML Living Standard) that follow a job, and when each is sent. Pure.
import type { TaskList } from "#shared/api/task-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { changesSince, NOTHING_SENT, type SentTasks } from "../views/tasks-view.ts";

/** The minimum interval between events that differ only in progress. */
const PROGRESS_GAP_MS = 500;
/** The minimum interval between events with changes of tasks. */
const TASKS_GAP_MS = 500;
/** The maximum interval between writes: proxies close idle streams, and only a write shows that a follower is gone. */
const PING_MS = 15_000;
/**
 * A stream is closed after this long, and its client reconnects with its key: a revoked key follows no job for longer.
 */
const LIFE_MS = 10 * 60_000;
/** Sets how long clients wait before they reconnect. */
const OPENING = "retry: 2000\n\n";
const PING = ": ping\n\n";
const CLOSING = ": connect again\n\n";

/** The events that a follower was sent. Times in ms since 1970. */
export type SentEvents = {
  readonly count: number;
  /** The job as it was last sent, in JSON: complete, and without its progress. */
  readonly view: string;
  readonly milestones: string;
  readonly openedAt: number;
  readonly changedAt: number;
  readonly writtenAt: number;
  readonly tasks: SentTasks;
  readonly tasksAt: number;
};

/** What followers see. */
export type Followed = {
  readonly job: JobView;
  /** Called only when an event with the tasks may be sent. */
  readonly tasks: () => TaskList;
};

/** The next step: text to write, and the events sent by then (null: the stream ends); or a wait in ms. */
export type NextStep = { readonly write: string; readonly sent: SentEvents | null } | { readonly waitMs: number };

/** The next step for a follower that was sent these events (null: none yet). */
export function nextStep(sent: SentEvents | null, followed: Followed, now: number): NextStep {
  const { job } = followed;
  const view = JSON.stringify(job);
  const milestones = JSON.stringify(job, withoutProgress);
  const opening = sent ? "" : OPENING;
  const first = (sent?.count ?? 0) + 1;
  if (job.completed_at !== null) {
    const last = sent ? taskEvent(sent, first + 1, followed, now) : { text: "", count: first };
    const write = opening + eventText("job", first, view) + last.text + eventText("end", last.count + 1, view);
    return { write, sent: null };
  }
  const openedAt = sent?.openedAt ?? now;
  if (openedAt + LIFE_MS <= now) return { write: CLOSING, sent: null };
  const sendAt = sent?.milestones === milestones ? sent.changedAt + PROGRESS_GAP_MS : now;
  if (sent?.view !== view && sendAt <= now) {
    const { tasks = NOTHING_SENT, tasksAt = Number.NEGATIVE_INFINITY } = sent ?? {};
    const next = { count: first, view, milestones, openedAt, changedAt: now, writtenAt: now, tasks, tasksAt };
    const { text, ...withTasks } = taskEvent(next, first + 1, followed, now);
    return { write: opening + eventText("job", first, view) + text, sent: { ...next, ...withTasks } };
  }
  if (sent) {
    const { text, ...withTasks } = taskEvent(sent, first, followed, now);
    if (text !== "") return { write: text, sent: { ...sent, ...withTasks, writtenAt: now } };
  }
  const pingAt = (sent?.writtenAt ?? now) + PING_MS;
  if (sent && pingAt <= now) return { write: PING, sent: { ...sent, writtenAt: now } };
  return { waitMs: Math.min(pingAt, sent?.view === view ? pingAt : sendAt, tasksDueAt(sent, now) ?? pingAt) - now };
}

/** When the tasks may be compared next; null: they were just now. */
function tasksDueAt(sent: SentEvents | null, now: number): number | null {
  const dueAt = (sent?.tasksAt ?? now) + TASKS_GAP_MS;
  return dueAt > now ? dueAt : null;
}

type TaskEvent = Pick<SentEvents, "count" | "tasks" | "tasksAt"> & { readonly text: string };

/** The event with what has changed of the tasks; empty when nothing has, or it is too early, except at the end. */
function taskEvent(
  { count, tasks, tasksAt }: Pick<SentEvents, "count" | "tasks" | "tasksAt">,
  id: number,
  followed: Followed,
  now: number,
): TaskEvent {
  const isDue = tasksAt + TASKS_GAP_MS <= now || followed.job.completed_at !== null;
  const changed = isDue ? changesSince(tasks, followed.tasks()) : null;
  if (!changed) return { text: "", count: Math.max(count, id - 1), tasks, tasksAt };
  const text = eventText("tasks", id, JSON.stringify(changed.changes));
  return { text, count: id, tasks: changed.sent, tasksAt: now };
}

/** All events of a job that has ended, from its view in JSON. */
export const endedEvents = (view: string): string => OPENING + eventText("job", 1, view) + eventText("end", 2, view);

const eventText = (event: "job" | "tasks" | "end", id: number, data: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

/** `seconds` is how much of a live stream can be played. */
const withoutProgress = (name: string, value: unknown): unknown =>
  name === "progress" || name === "seconds" ? undefined : value;
