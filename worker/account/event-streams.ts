// The streams of those who listen to an account's events.
import { WakeableStreams } from "../wakeable-streams.ts";
import type { EventRing } from "./event-ring.ts";
import { type Listener, newListener, nextWrite } from "./event-text.ts";

/** Streams that may be open at a time. */
const MAX_LISTENERS = 20;

export class EventStreams {
  readonly #ring: () => EventRing;
  readonly #streams = new WakeableStreams();

  /** `ring` is called before each write, at least every 15 seconds while a stream is open. */
  constructor(ring: () => EventRing) {
    this.#ring = ring;
  }

  get isFull(): boolean {
    return this.#streams.size >= MAX_LISTENERS;
  }

  /** A stream from the event after `lastEventId` on; null: from now on. */
  open(lastEventId: string | null): ReadableStream<Uint8Array> {
    let sent: Listener | null = newListener(lastEventId, this.#ring(), Date.now());
    return this.#streams.open(() => {
      if (!sent) return null;
      const step = nextWrite(sent, this.#ring(), Date.now());
      if ("write" in step) sent = step.sent;
      return step;
    });
  }

  /** There are new events. */
  wake(): void {
    this.#streams.wake();
  }
}
