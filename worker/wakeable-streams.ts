// Streams of server-sent events: each one is written to when there is something new for its reader.

const ENCODER = new TextEncoder();

/** Text to write, or how long (ms) to wait unless something happens; null: the stream ends. */
export type StreamStep = { readonly write: string } | { readonly waitMs: number } | null;

export class WakeableStreams {
  readonly #readers = new Set<Reader>();
  readonly #onLeave: () => void;

  /** `onLeave` is called when a stream has ended. */
  constructor(onLeave: () => void = () => {}) {
    this.#onLeave = onLeave;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#readers.size;
  }

  /** A stream of the texts of `next`, which is called when its reader has read everything before. */
  open(next: () => StreamStep): ReadableStream<Uint8Array> {
    const reader = new Reader(next);
    this.#readers.add(reader);
    const leave = (): boolean => {
      reader.leave();
      const isFirst = this.#readers.delete(reader);
      if (isFirst) this.#onLeave();
      return isFirst;
    };
    const source: UnderlyingSource<Uint8Array> = {
      // A slow reader gets what is new by then, and nothing queues up.
      async pull(controller) {
        try {
          const text = await reader.read();
          if (text !== null) controller.enqueue(ENCODER.encode(text));
          else if (leave()) controller.close();
        } catch (error) {
          leave();
          throw error;
        }
      },
      // Across RPC the runtime detects only by a write that the reader is gone: pings are such writes.
      cancel: () => void leave(),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** There may be something new. */
  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

/** It has a timer only while it waits, so that an object without streams has none. */
class Reader {
  readonly #next: () => StreamStep;
  #hasLeft = false;
  #wake = (): void => {};

  constructor(next: () => StreamStep) {
    this.#next = next;
  }

  /** Waits for the next text; null at the end. */
  async read(): Promise<string | null> {
    for (;;) {
      const step = this.#hasLeft ? null : this.#next();
      if (!step) return null;
      if ("write" in step) return step.write;
      await this.#sleep(step.waitMs);
    }
  }

  wake(): void {
    this.#wake();
  }

  leave(): void {
    this.#hasLeft = true;
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
