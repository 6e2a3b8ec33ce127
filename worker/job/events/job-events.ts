// Who follows a job: streams that are written to when it changes.
import type { JobView } from "#shared/job/job-view.ts";
import { nextStep, type Told } from "./event-text.ts";

/** Streams that may follow one job at a time. */
const MAX_FOLLOWERS = 20;
const ENCODER = new TextEncoder();

export class JobEvents {
  readonly #view: () => JobView | null;
  readonly #followers = new Set<Follower>();

  /** `view` answers the job as it is, or null when it is no longer kept. */
  constructor(view: () => JobView | null) {
    this.#view = view;
  }

  /** A stream that follows the job to its end, or null when too many do. */
  open(): ReadableStream<Uint8Array> | null {
    if (this.#followers.size >= MAX_FOLLOWERS) return null;
    const follower = new Follower(this.#view);
    this.#followers.add(follower);
    const leave = (): boolean => {
      follower.leave();
      return this.#followers.delete(follower);
    };
    const source: UnderlyingSource<Uint8Array> = {
      // Asked for when the reader has taken all before: one who is slow finds the newest, and nothing piles up.
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
      // Across RPC the runtime learns that the reader is gone when it writes, which pings make it do.
      cancel: () => void leave(),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** The job has changed. */
  wake(): void {
    for (const follower of this.#followers) follower.wake();
  }
}

/** One stream's place. It has a timer only while its reader waits for more, so that an object without followers has none. */
class Follower {
  readonly #view: () => JobView | null;
  #told: Told | null = null;
  #done = false;
  #wake = (): void => {};

  constructor(view: () => JobView | null) {
    this.#view = view;
  }

  /** The text to write next, once there is any; null at the end. */
  async next(): Promise<string | null> {
    for (;;) {
      const view = this.#done ? null : this.#view();
      if (!view) return null;
      const step = nextStep(this.#told, view, Date.now());
      if ("write" in step) {
        this.#told = step.told;
        this.#done = step.told === null;
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
