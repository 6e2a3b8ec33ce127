// Circuit breaker of a receiver of an account's notifications. After consecutive failures, the deliveries of all of the
// account's jobs pause. After the pause, a single delivery at a time is tried. Pure.
import * as z from "zod";

/** The circuit of a receiver whose latest deliveries failed. A successful delivery removes it. */
export const Circuit = z.object({
  /** Consecutive failures. */
  failures: z.int(),
  /** No delivery is sent before this time (ms since 1970), except a trial. */
  openUntil: z.number(),
  isTrial: z.boolean(),
});
export type Circuit = z.infer<typeof Circuit>;

/** Consecutive failures that open the circuit: as many as the attempts for a job's last notification. */
const MAX_FAILURES = 10;
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;
/** Time after which a trial has ended or was lost: a receiver may take 15 s to respond (send.ts). */
const TRIAL_MS = 20_000;

/** Admits a delivery now, with the changed circuit if it is a trial. Otherwise returns the time to request it again. */
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
  // Deliveries that were sent before the circuit opened do not count.
  if (circuit && circuit.failures >= MAX_FAILURES && !circuit.isTrial) return circuit;
  const failures = (circuit?.failures ?? 0) + 1;
  const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - MAX_FAILURES));
  return { failures, openUntil: failures < MAX_FAILURES ? now : now + pause, isTrial: false };
}
