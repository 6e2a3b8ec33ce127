// Changes of a job by a turn of a hub. Pure: (state, turn, now) → next state.
import type { LeaseId } from "#shared/ids.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Turn } from "../../rpc/turn.ts";
import type { TaskSecrets } from "../secrets/task-secrets.ts";
import type { JobState } from "../state/job-state.ts";
import { withPace } from "../views/job-progress.ts";
import { claimTasks, recordProgress, renewAll, renewLease } from "./leases.ts";
import { expireLeases, loseSession } from "./lost-leases.ts";

/** Input of assignments besides the state: the secrets, and the tokens of new leases. */
export type LeaseInput = { readonly secrets: TaskSecrets; readonly newToken: (lease: LeaseId) => string };

export type TakenTurn = {
  readonly state: JobState;
  /** In the order of `want`. */
  readonly assigned: Assignment[][];
  /** Leases that their nodes must drop. */
  readonly cancel: LeaseId[];
  /** True if the change must be stored, because it does more than renew leases. */
  readonly isDurable: boolean;
};

/** Applies a turn. Tasks of sessions that have ended are free for the claims of the same turn. */
export function takeTurn(state: JobState, turn: Turn, leaseInput: LeaseInput | null, now: number): TakenTurn {
  const lost = expireLeases(
    turn.lost.reduce((next, session) => loseSession(next, session, now), state),
    now,
  );
  const renewed = renewAll(lost, turn.alive, renewLease, now);
  const reported = renewAll(renewed.state, turn.progress, recordProgress, now);
  const ages = turn.progress.map(({ ageMs = 0 }) => ageMs);
  let next = ages.length > 0 ? withPace(reported.state, now - Math.max(...ages)) : reported.state;
  const assigned = turn.want.map((request) => {
    if (!leaseInput) return [];
    const claimed = claimTasks(next, { ...request, newToken: leaseInput.newToken, ...leaseInput.secrets }, now);
    next = claimed.state;
    return claimed.assignments;
  });
  const isDurable = lost !== state || assigned.some(({ length }) => length > 0);
  return { state: next, assigned, cancel: [...renewed.dropped, ...reported.dropped], isDurable };
}
