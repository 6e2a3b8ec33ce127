// The streams of those who listen to an account's events.
import type { EventRing } from "./event-ring.ts";
import { type Listener, newListener, nextWrite } from "./event-text.ts";

/** Streams that may be open at a time. */
const MAX_LISTENERS = 20;
const ENCODER = new TextEncoder();

export class EventStreams {
  readonly #ring: () => EventRing;
  readonly #streams = new Set<ListenerStream>();

  /** `ring` is called before each write, at least every 15 seconds while a stream is open. */
  constructor(ring: () => EventRing) {
    this.#ring = ring;
  }

  get isFull(): boolean {
    return this.#streams.size >= MAX_LISTENERS;
  }

  /** A stream from the event after `lastEventId` on; null: from now on. */
  open(lastEventId: string | null): ReadableStream<Uint8Array> {
    const stream = new ListenerStream(this.#ring, newListener(lastEventId, this.#ring(), Date.now()));
    this.#streams.add(stream);
    const leave = (): boolean => {
      stream.leave();
      return this.#streams.delete(stream);
    };
    const source: UnderlyingSource<Uint8Array> = {
      // Called when the reader has read everything before: events wait in the ring, and nothing queues up.
      async pull(controller) {
        try {
          const text = await stream.next();
          if (text !== null) controller.enqueue(ENCODER.encode(text));
          else if (leave()) controller.close();
        } catch (error) {
          leave();
          throw error;
        }
      },
      cancel: () => void leave(),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** There are new events. */
  wake(): void {
    for (const stream of this.#streams) stream.wake();
  }
}

/** The position of one stream. It has a timer only while its reader waits. */
class ListenerStream {
  readonly #ring: () => EventRing;
  #sent: Listener | null;
  #wake = (): void => {};

  constructor(ring: () => EventRing, start: Listener) {
    this.#ring = ring;
    this.#sent = start;
  }

  /** Waits for the next text to write; null at the end. */
  async next(): Promise<string | null> {
    while (this.#sent) {
      const step = nextWrite(this.#sent, this.#ring(), Date.now());
      if ("write" in step) {
        this.#sent = step.sent;
        return step.write;
      }
      await this.#sleep(step.waitMs);
    }
    return null;
  }

  wake(): void {
    this.#wake();
  }

  leave(): void {
    this.#sent = null;
    this.#wake();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
