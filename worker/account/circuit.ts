// The circuit breaker of one receiver of an account's notifications: after consecutive failures no delivery of any of
// the account's jobs is sent for a while, and then one at a time. Pure.
import * as z from "zod";

/** The circuit of a receiver whose latest deliveries failed; after a successful delivery there is none. */
export const Circuit = z.object({
  /** Consecutive failures. */
  failures: z.int(),
  /** Until when (ms since 1970) no delivery is sent, except a trial. */
  openUntil: z.number(),
  isTrial: z.boolean(),
});
export type Circuit = z.infer<typeof Circuit>;

/** The number of consecutive failures that opens the circuit: that of the attempts for a job's last notification. */
const MAX_FAILURES = 10;
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;
/** A trial has ended by then, or was lost: a receiver may take 15 s to respond (send.ts). */
const TRIAL_MS = 20_000;

/**
 * True if a delivery may be sent now, with the changed circuit if it is a trial; otherwise when to request it again.
 */
export function admit(
  circuit: Circuit | null,
  now: number,
): { go: true; circuit: Circuit | null } | { go: false; at: number } {
  if (!circuit || circuit.failures < MAX_FAILURES) return { go: true, circuit };
  if (now < circuit.openUntil) return { go: false, at: circuit.openUntil };
  return { go: true, circuit: { ...circuit, openUntil: now + TRIAL_MS, isTrial: true } };
}

/** The circuit after a delivery: success closes it, consecutive failures open it for increasing times. */
export function afterDelivery(circuit: Circuit | null, wasDelivered: boolean, now: number): Circuit | null {
  if (wasDelivered) return null;
  // Deliveries that were sent before it opened do not count.
  if (circuit && circuit.failures >= MAX_FAILURES && !circuit.isTrial) return circuit;
  const failures = (circuit?.failures ?? 0) + 1;
  const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - MAX_FAILURES));
  return { failures, openUntil: failures < MAX_FAILURES ? now : now + pause, isTrial: false };
}
