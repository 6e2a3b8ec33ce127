// The breaker before one receiver of an account's notifications: after failures in a row it is left alone for a while, for
// all jobs of the account, and then tried with one delivery at a time. Pure.
import * as z from "zod";

/** A receiver whose latest deliveries failed; one whose latest was taken has none. */
export const Circuit = z.object({
  /** Failures in a row. */
  failures: z.int(),
  /** No delivery before (ms since 1970), but for the one that tries. */
  openUntil: z.number(),
  isTrying: z.boolean(),
});
export type Circuit = z.infer<typeof Circuit>;

/** Failures in a row that a receiver may have: as many as one job's last notification is tried. */
const MAX_FAILURES = 10;
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;
/** A delivery that tries has ended by then, or was lost: an answer is waited for 15 s (send.ts). */
const TRIAL_MS = 20_000;

/** Whether a delivery may go out now; if it is one that tries, the circuit after that. Otherwise when to ask again. */
export function admit(
  circuit: Circuit | null,
  now: number,
): { go: true; circuit: Circuit | null } | { go: false; at: number } {
  if (!circuit || circuit.failures < MAX_FAILURES) return { go: true, circuit };
  if (now < circuit.openUntil) return { go: false, at: circuit.openUntil };
  return { go: true, circuit: { ...circuit, openUntil: now + TRIAL_MS, isTrying: true } };
}

/** The circuit after a delivery: taken ones close it, failed ones in a row open it for longer and longer. */
export function afterDelivery(circuit: Circuit | null, wasTaken: boolean, now: number): Circuit | null {
  if (wasTaken) return null;
  // What was under way when it opened says nothing new.
  if (circuit && circuit.failures >= MAX_FAILURES && !circuit.isTrying) return circuit;
  const failures = (circuit?.failures ?? 0) + 1;
  const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - MAX_FAILURES));
  return { failures, openUntil: failures < MAX_FAILURES ? now : now + pause, isTrying: false };
}
