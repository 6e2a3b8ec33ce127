// The text of an account's stream of events (server-sent events, HTML Living Standard), and when it is written. Pure.
import type { EventRing, RingEvent } from "./event-ring.ts";

/** The maximum interval between writes: proxies close idle streams, and only a write shows that a listener is gone. */
const PING_MS = 15_000;
/** A stream is closed after this long, and its client connects again with its key: a revoked key listens no longer. */
const LIFE_MS = 10 * 60_000;
/** Events that are written at once: up to so many, while they have fewer characters than this. */
const MAX_EVENTS = 50;
const MAX_CHARS = 256_000;

/**
 * What a listener was sent: all events up to an id. Times in ms since 1970; `writtenAt` is null before the first write.
 */
export type Listener = {
  readonly id: number;
  readonly openedAt: number;
  readonly writtenAt: number | null;
};

/** Text to write, and what was sent with it (null: the stream ends); or a wait in ms. */
export type NextWrite = { readonly write: string; readonly sent: Listener | null } | { readonly waitMs: number };

type Ring = Pick<EventRing, "floor" | "last" | "next">;

/**
 * A listener that has all events up to `Last-Event-ID`, or that wants those from now on (null). An id that the ring has
 * never given is older than all of its events.
 */
export function newListener(lastEventId: string | null, ring: Ring, now: number): Listener {
  const asked = lastEventId === null ? ring.last : /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
  return { id: asked > ring.last ? -1 : asked, openedAt: now, writtenAt: null };
}

/** The next write for a listener. */
export function nextWrite(listener: Listener, ring: Ring, now: number): NextWrite {
  const { openedAt, writtenAt } = listener;
  if (openedAt + LIFE_MS <= now) return { write: ": connect again\n\n", sent: null };
  let { id } = listener;
  let text = "";
  if (id < ring.floor) {
    id = ring.floor;
    text += eventText("gap", id, { missed: true });
  }
  for (let count = 0; count < MAX_EVENTS && text.length < MAX_CHARS; count++) {
    const event: RingEvent | null = ring.next(id);
    if (!event) break;
    id = event.id;
    text += eventText(event.kind, id, event.data);
  }
  // A message without data sets the id from which its client continues, also if it never gets an event.
  if (writtenAt === null) text = `retry: 2000\nid: ${listener.id < 0 ? id : listener.id}\n\n${text}`;
  if (text !== "") return { write: text, sent: { id, openedAt, writtenAt: now } };
  const waitMs = (writtenAt ?? now) + PING_MS - now;
  return waitMs > 0 ? { waitMs } : { write: ": ping\n\n", sent: { id, openedAt, writtenAt: now } };
}

const eventText = (event: string, id: number, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
