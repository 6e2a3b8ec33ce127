// The text of an account's stream of events (server-sent events, HTML Living Standard), and when it is written. Pure.
import type { EventStep } from "../events/event-sockets.ts";
import type { EventRing, RingEvent } from "./event-ring.ts";

/** Limits of a write: number of events, and characters after which no further event is added. */
const MAX_EVENTS = 50;
const MAX_CHARS = 256_000;

/** Position of a listener: events up to `id` were sent. `isNew`: nothing was sent yet, not even the id. */
export type Listener = { readonly id: number; readonly isNew: boolean };

type Ring = Pick<EventRing, "floor" | "last" | "next">;

/**
 * A listener that has all events up to `lastEventId`; null: it wants only events from now on. An id that the ring has
 * never given counts as older than all of its events.
 */
export function newListener(lastEventId: string | null, ring: Ring): Listener {
  const lastId = lastEventId === null ? ring.last : /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
  return { id: lastId > ring.last ? -1 : lastId, isNew: true };
}

/** The next events for a listener. */
export function nextWrite(listener: Listener, ring: Ring): EventStep<Listener> {
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
  // A message without data sets the id from which the client continues, even if the client never gets an event.
  if (listener.isNew) text = `id: ${listener.id < 0 ? id : listener.id}\n\n${text}`;
  return text === "" ? null : { write: text, sent: { id, isNew: false }, hasMore: true };
}

const eventText = (event: string, id: number, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
