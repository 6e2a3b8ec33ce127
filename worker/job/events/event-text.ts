// The server-sent events (HTML Living Standard) that follow a job, and the times to send them. Pure.
import type { TaskList } from "#shared/api/task-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { EventStep } from "../../events/event-sockets.ts";
import { OPENING } from "../../events/socket-stream.ts";
import { changesSince, NOTHING_SENT, type SentTasks } from "../views/tasks-view.ts";

/** The minimum interval between events that differ only in progress. */
const PROGRESS_GAP_MS = 500;
/** The minimum interval between events with changes of tasks. */
const TASKS_GAP_MS = 500;

/** State of a follower: the events that it was sent. Times in ms since 1970. */
export type SentEvents = {
  /** The id of the last event. */
  readonly id: number;
  /** The job as it was last sent, in JSON: complete, and without its progress. */
  readonly view: string;
  readonly milestones: string;
  readonly changedAt: number;
  readonly tasks: SentTasks;
  readonly tasksAt: number;
};

/** A follower that needs everything, with ids after this id. */
export const newFollower = (id: number): SentEvents => ({
  id,
  view: "",
  milestones: "",
  changedAt: 0,
  tasks: NOTHING_SENT,
  tasksAt: 0,
});

/** A follower that was sent the current job. */
export const upToDate = (id: number, { job, tasks }: Followed): SentEvents => ({
  ...newFollower(id),
  view: JSON.stringify(job),
  milestones: JSON.stringify(job, withoutProgress),
  tasks: changesSince(NOTHING_SENT, tasks())?.sent ?? NOTHING_SENT,
});

/** Data that followers see. */
export type Followed = {
  readonly job: JobView;
  /** Called only when an event with the tasks may be sent. */
  readonly tasks: () => TaskList;
};

/** The next step for a follower that was sent these events. */
export function nextStep(sent: SentEvents, { job, tasks }: Followed, now: number): EventStep<SentEvents> {
  const view = JSON.stringify(job);
  if (job.completed_at !== null) {
    const last = taskEvent({ ...sent, id: sent.id + 1 }, tasks(), now);
    const write = eventText("job", sent.id + 1, view) + last.text + eventText("end", last.sent.id + 1, view);
    return { write, sent: null };
  }
  const milestones = JSON.stringify(job, withoutProgress);
  const viewAt = sent.milestones === milestones ? sent.changedAt + PROGRESS_GAP_MS : now;
  const tasksAt = sent.tasksAt + TASKS_GAP_MS;
  const hasView = sent.view !== view && viewAt <= now;
  const viewed = hasView ? { ...sent, id: sent.id + 1, view, milestones, changedAt: now } : sent;
  const next = tasksAt <= now ? taskEvent(viewed, tasks(), now) : { text: "", sent: viewed };
  const write = (hasView ? eventText("job", viewed.id, view) : "") + next.text;
  // Times of the changes that are too early to send. Tasks may have changed.
  const waits = [sent.view === view || hasView ? [] : [viewAt], tasksAt > now ? [tasksAt] : []].flat();
  if (write !== "") return { write, sent: next.sent, hasMore: waits.length > 0 };
  return waits.length > 0 ? { waitMs: Math.min(...waits) - now } : null;
}

/** The event with the changes of the tasks, and its reader's state after it; empty if nothing has changed. */
function taskEvent(sent: SentEvents, list: TaskList, now: number): { text: string; sent: SentEvents } {
  const changed = changesSince(sent.tasks, list);
  if (!changed) return { text: "", sent };
  const id = sent.id + 1;
  const text = eventText("tasks", id, JSON.stringify(changed.changes));
  return { text, sent: { ...sent, id, tasks: changed.sent, tasksAt: now } };
}

/** All events of a job that has ended, from its view in JSON. */
export const endedEvents = (view: string): string => OPENING + eventText("job", 1, view) + eventText("end", 2, view);

const eventText = (event: "job" | "tasks" | "end", id: number, data: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

/** `seconds` is the playable part of a live stream. */
const PROGRESS: readonly string[] = ["progress", "seconds", "ends_at"];
const withoutProgress = (name: string, value: unknown): unknown => (PROGRESS.includes(name) ? undefined : value);
