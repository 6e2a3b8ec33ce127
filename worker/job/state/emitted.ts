// The events of a job that the object of its account has.
import * as z from "zod";

export const Emitted = z.object({
  /** The last status that was sent, with its round; null: none. */
  status: z.string().nullable(),
  /** Number of sent notifications, and time of the last replay that was sent. */
  notifications: z.int(),
  replayedAt: z.number(),
});
export type Emitted = z.infer<typeof Emitted>;

export const NOTHING_EMITTED: Emitted = { status: null, notifications: 0, replayedAt: 0 };
