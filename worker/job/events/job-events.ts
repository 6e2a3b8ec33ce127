// The streams that follow a job: events are written to them when it changes.
import { WakeableStreams } from "../../wakeable-streams.ts";
import { type Followed, nextStep, type SentEvents } from "./event-text.ts";

/** Streams that may follow one job at a time. */
const MAX_FOLLOWERS = 20;

export class JobEvents {
  readonly #view: () => Followed | null;
  readonly #streams: WakeableStreams;

  /**
   * `view` returns what followers see of the job now, or null when it is no longer kept. `onLeave` is called when a
   * stream has ended.
   */
  constructor(view: () => Followed | null, onLeave?: () => void) {
    this.#view = view;
    this.#streams = new WakeableStreams(onLeave);
  }

  /** A stream that follows the job to its end, or null when there are too many. */
  open(): ReadableStream<Uint8Array> | null {
    if (this.#streams.size >= MAX_FOLLOWERS) return null;
    let sent: SentEvents | null = null;
    let isDone = false;
    return this.#streams.open(() => {
      const view = isDone ? null : this.#view();
      if (!view) return null;
      const step = nextStep(sent, view, Date.now());
      if ("write" in step) {
        sent = step.sent;
        isDone = sent === null;
      }
      return step;
    });
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** The job has changed. */
  wake(): void {
    this.#streams.wake();
  }
}
