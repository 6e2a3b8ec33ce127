// The streams that follow a job: events are written to them when it changes.
import { type Followed, nextStep, type SentEvents } from "./event-text.ts";

/** Streams that may follow one job at a time. */
const MAX_FOLLOWERS = 20;
const ENCODER = new TextEncoder();

export class JobEvents {
  readonly #view: () => Followed | null;
  readonly #followers = new Set<Follower>();

  /** `view` returns what followers see of the job now, or null when it is no longer kept. */
  constructor(view: () => Followed | null) {
    this.#view = view;
  }

  /** A stream that follows the job to its end, or null when there are too many. */
  open(): ReadableStream<Uint8Array> | null {
    if (this.#followers.size >= MAX_FOLLOWERS) return null;
    const follower = new Follower(this.#view);
    this.#followers.add(follower);
    const leave = (): boolean => {
      follower.leave();
      return this.#followers.delete(follower);
    };
    const source: UnderlyingSource<Uint8Array> = {
      // Called when the reader has read everything before: a slow reader gets the newest view, and nothing queues up.
      async pull(controller) {
        try {
          const text = await follower.next();
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

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** The job has changed. */
  wake(): void {
    for (const follower of this.#followers) follower.wake();
  }
}

/**
 * The position of one stream. It has a timer only while its reader waits, so that an object without followers has none.
 */
class Follower {
  readonly #view: () => Followed | null;
  #sent: SentEvents | null = null;
  #done = false;
  #wake = (): void => {};

  constructor(view: () => Followed | null) {
    this.#view = view;
  }

  /** Waits for the next text to write; null at the end. */
  async next(): Promise<string | null> {
    for (;;) {
      const view = this.#done ? null : this.#view();
      if (!view) return null;
      const step = nextStep(this.#sent, view, Date.now());
      if ("write" in step) {
        this.#sent = step.sent;
        this.#done = step.sent === null;
        return step.write;
      }
      await this.#sleep(step.waitMs);
    }
  }

  wake(): void {
    this.#wake();
  }

  leave(): void {
    this.#done = true;
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
