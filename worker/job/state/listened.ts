// Whether somebody listens to the events of a job's account, and which of them the job has sent.
import * as z from "zod";

export const Listened = z.object({
  /** Until when (ms since 1970) the account's object takes events; 0: nobody listens. */
  until: z.number(),
  /** The last status that was sent, with its round; null: none. */
  status: z.string().nullable(),
  /** The number of notifications that were sent, and the time of the last replay that was. */
  notifications: z.int(),
  replayedAt: z.number(),
});
export type Listened = z.infer<typeof Listened>;

export const NOT_LISTENED: Listened = { until: 0, status: null, notifications: 0, replayedAt: 0 };
