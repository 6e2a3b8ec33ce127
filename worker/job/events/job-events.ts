// Followers of a job: events are sent to them when it changes.
import { EventSockets } from "../../events/event-sockets.ts";
import { type Followed, newFollower, nextStep, type SentEvents, upToDate } from "./event-text.ts";

/** Maximum number of streams that follow a job at a time. */
const MAX_FOLLOWERS = 20;

export class JobEvents extends EventSockets<SentEvents> {
  /** `view` returns the data that followers see now, or null if the job is no longer kept. */
  constructor(ctx: DurableObjectState, view: () => Followed | null) {
    super(ctx, {
      next: (sent) => {
        const followed = view();
        return followed ? nextStep(sent, followed, Date.now()) : undefined;
      },
      restore: ({ id, isBehind }) => {
        const followed = view();
        return followed && !isBehind ? upToDate(id, followed) : newFollower(id);
      },
    });
  }

  get isFull(): boolean {
    return this.size >= MAX_FOLLOWERS;
  }

  /** Follows the job to its end. The ids of its events come after `lastEventId`. */
  follow(lastEventId: string | null): Response {
    return this.open(newFollower(/^\d{1,9}$/.test(lastEventId ?? "") ? Number(lastEventId) : 0));
  }
}
