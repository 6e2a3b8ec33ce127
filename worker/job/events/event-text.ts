// What the followers of a job are sent, and when: server-sent events (HTML Living Standard). Pure.
import type { JobView } from "#shared/job/job-view.ts";

/** Changes of nothing but progress are this far apart at least. */
const PROGRESS_GAP_MS = 500;
/** A stream is never silent for longer: proxies close idle ones, and only writing shows that a follower is gone. */
const PING_MS = 15_000;
/**
 * A stream is cut off after this long, and its client connects anew with its key: one that was revoked follows a job no
 * longer than that.
 */
const LIFE_MS = 10 * 60_000;
/** How long clients are asked to wait before they connect anew. */
const OPENING = "retry: 2000\n\n";
const PING = ": ping\n\n";
const CUT_OFF = ": connect again\n\n";

/** What a follower has been sent. Times in ms since 1970. */
export type Told = {
  readonly events: number;
  /** The job as it was last told, in JSON: all of it, and without its progress. */
  readonly view: string;
  readonly milestones: string;
  readonly openedAt: number;
  readonly changedAt: number;
  readonly writtenAt: number;
};

/** What comes next: text to write, after which the follower has been told this (null: no more comes); or a wait in ms. */
export type NextStep = { readonly write: string; readonly told: Told | null } | { readonly waitMs: number };

/** The next step for a follower who was told this (null: nothing yet) of a job that looks like this by now. */
export function nextStep(told: Told | null, job: JobView, now: number): NextStep {
  const view = JSON.stringify(job);
  const milestones = JSON.stringify(job, withoutProgress);
  const opening = told ? "" : OPENING;
  const first = (told?.events ?? 0) + 1;
  if (job.completed_at !== null) {
    return { write: opening + eventText("job", first, view) + eventText("end", first + 1, view), told: null };
  }
  const openedAt = told?.openedAt ?? now;
  if (openedAt + LIFE_MS <= now) return { write: CUT_OFF, told: null };
  const tellAt = told?.milestones === milestones ? told.changedAt + PROGRESS_GAP_MS : now;
  if (told?.view !== view && tellAt <= now) {
    const write = opening + eventText("job", first, view);
    return { write, told: { events: first, view, milestones, openedAt, changedAt: now, writtenAt: now } };
  }
  const pingAt = (told?.writtenAt ?? now) + PING_MS;
  if (told && pingAt <= now) return { write: PING, told: { ...told, writtenAt: now } };
  return { waitMs: (told?.view === view ? pingAt : Math.min(tellAt, pingAt)) - now };
}

/** All events of a job that has ended, from its view in JSON. */
export const endedEvents = (view: string): string => OPENING + eventText("job", 1, view) + eventText("end", 2, view);

const eventText = (event: "job" | "end", id: number, view: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${view}\n\n`;

const withoutProgress = (name: string, value: unknown): unknown => (name === "progress" ? undefined : value);
