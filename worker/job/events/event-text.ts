// The server-sent events (HTML Living Standard) that follow a job, and when each is sent. Pure.
import type { JobView } from "#shared/job/job-view.ts";

/** The minimum interval between events that differ only in progress. */
const PROGRESS_GAP_MS = 500;
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
};

/** The next step: text to write, and the events sent by then (null: the stream ends); or a wait in ms. */
export type NextStep = { readonly write: string; readonly sent: SentEvents | null } | { readonly waitMs: number };

/** The next step for a follower that was sent these events (null: none yet) of a job with this view. */
export function nextStep(sent: SentEvents | null, job: JobView, now: number): NextStep {
  const view = JSON.stringify(job);
  const milestones = JSON.stringify(job, withoutProgress);
  const opening = sent ? "" : OPENING;
  const first = (sent?.count ?? 0) + 1;
  if (job.completed_at !== null) {
    return { write: opening + eventText("job", first, view) + eventText("end", first + 1, view), sent: null };
  }
  const openedAt = sent?.openedAt ?? now;
  if (openedAt + LIFE_MS <= now) return { write: CLOSING, sent: null };
  const sendAt = sent?.milestones === milestones ? sent.changedAt + PROGRESS_GAP_MS : now;
  if (sent?.view !== view && sendAt <= now) {
    const write = opening + eventText("job", first, view);
    return { write, sent: { count: first, view, milestones, openedAt, changedAt: now, writtenAt: now } };
  }
  const pingAt = (sent?.writtenAt ?? now) + PING_MS;
  if (sent && pingAt <= now) return { write: PING, sent: { ...sent, writtenAt: now } };
  return { waitMs: (sent?.view === view ? pingAt : Math.min(sendAt, pingAt)) - now };
}

/** All events of a job that has ended, from its view in JSON. */
export const endedEvents = (view: string): string => OPENING + eventText("job", 1, view) + eventText("end", 2, view);

const eventText = (event: "job" | "end", id: number, view: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${view}\n\n`;

const withoutProgress = (name: string, value: unknown): unknown => (name === "progress" ? undefined : value);
