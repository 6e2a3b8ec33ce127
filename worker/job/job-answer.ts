// What a job's object answers across RPC, where thrown errors would lose their class.
import type { ErrorCode } from "#shared/errors.ts";

/** The value, or a code of the error table. */
export type Answer<Value> =
  | { ok: true; value: Value }
  | { ok: false; code: ErrorCode; message: string; retryAfterSeconds?: number };

const refusal = (code: ErrorCode, message: string) => ({ ok: false, code, message }) as const;

export const REFUSED = {
  superseded: refusal("lease_superseded", "This lease is no longer valid: stop the work and forget it"),
  unknownJob: refusal("job_not_found", "There is no such job"),
  unknownNotification: refusal("notification_not_found", "The job has no notification with this id"),
  tooManyFollowers: refusal("rate_limited", "Too many streams follow this job already"),
} as const;

/** The notification was replayed a moment ago. */
export const replayedBefore = (waitMs: number) => {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const message = `A notification may be replayed once a minute; try again in ${retryAfterSeconds} s`;
  return { ...refusal("rate_limited", message), retryAfterSeconds };
};

/** The job is not in a state for what was asked. */
export const conflict = (message: string) => refusal("job_state_conflict", message);
