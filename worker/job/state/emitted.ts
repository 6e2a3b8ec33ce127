// Which of a job's events its account's object has.
import * as z from "zod";

export const Emitted = z.object({
  /** The last status that was sent, with its round; null: none. */
  status: z.string().nullable(),
  /** The number of notifications that were sent, and the time of the last replay that was. */
  notifications: z.int(),
  replayedAt: z.number(),
});
export type Emitted = z.infer<typeof Emitted>;

export const NOTHING_EMITTED: Emitted = { status: null, notifications: 0, replayedAt: 0 };
