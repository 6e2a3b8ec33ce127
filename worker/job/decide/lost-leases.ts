// Lost leases: the node's connection ended, the node never got the lease, or nobody has heard of it for too long. Pure:
// (state, input, now) → next state.
import type { LeaseId } from "#shared/ids.ts";
import { LEASE_MS, type LeaseProof } from "#shared/protocol/leases.ts";
import type { LeaseHolder, LeaseHolding } from "../../rpc/hub.ts";
import type { LostSession } from "../../rpc/turn.ts";
import { endAttempt } from "../state/attempt-log.ts";
import { checkLease } from "../state/check-lease.ts";
import { leaseIdOf, patchTask } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import type { LeaseState } from "../state/task-state.ts";
import { endIfDone } from "./job-ending.ts";
import { loseTask } from "./task-ends.ts";

/** Grace for the node of a lost connection to return, as a share of the time that it has worked, and the limits. */
const GRACE_SHARE = 0.1;
const MIN_GRACE_MS = 10_000;
const MAX_GRACE_MS = 10 * 60_000;

const graceMs = (workedMs: number): number =>
  Math.min(MAX_GRACE_MS, Math.max(MIN_GRACE_MS, Math.round(GRACE_SHARE * workedMs)));

/**
 * Handles a lost connection of a node's session: its leases last as long as its work is worth waiting for. Leases of a
 * session that has ended are over.
 */
export function loseSession(state: JobState, { session, hasEnded }: LostSession, now: number): JobState {
  let hasChanged = false;
  const tasks = state.tasks.map((task) => {
    const { phase, lease } = task;
    if (phase !== "leased" || !lease || lease.session !== session || (lease.isSuspected && !hasEnded)) return task;
    hasChanged = true;
    const expiresAt = hasEnded ? now : now + graceMs(now - lease.since);
    return { ...task, lease: { ...lease, expiresAt, confirmBy: null, isSuspected: true } };
  });
  return hasChanged ? { ...state, tasks } : state;
}

/**
 * Leases that must be confirmed soon are confirmed together, so that a job with many chunks asks seldom. A claim whose
 * answer was lost has been repeated by then.
 */
const TOGETHER_MS = 15_000;
/**
 * Minimum time for a node that its hub does not know to be heard of. After a restart of the hub, the last nodes return
 * within 30 s (dispatch/sessions.ts). Machines that restart with the hub take longer.
 */
const MIN_RETURN_MS = 150_000;
/** Interval at which the hub is asked meanwhile: the node may return without the lease. */
const ASK_AGAIN_MS = 15_000;

/** Time at which the hub must be asked whether nodes have their leases, ms since 1970; null: never. */
export function confirmationDueAt(state: JobState): number | null {
  const times = state.tasks.flatMap(({ phase, lease }) => (phase === "leased" && lease ? (lease.confirmBy ?? []) : []));
  return times.length > 0 ? Math.min(...times) : null;
}

/** Leases to ask the hub about now. */
export const leasesToConfirm = (state: JobState, now: number): LeaseHolder[] =>
  state.tasks.flatMap((task) => {
    const { phase, lease } = task;
    if (phase !== "leased" || !lease || (lease.confirmBy ?? Infinity) > now + TOGETHER_MS) return [];
    return [{ lease: leaseIdOf(state, task), nodeId: lease.nodeId, session: lease.session }];
  });

/** Applies the answers of the hub about leases, except to leases whose nodes have reported meanwhile. */
export function applyHoldings(state: JobState, known: ReadonlyMap<LeaseId, LeaseHolding>, now: number): JobState {
  const tasks = state.tasks.map((task) => {
    const { phase, lease } = task;
    const holding = phase === "leased" ? known.get(leaseIdOf(state, task)) : undefined;
    return lease && holding && lease.confirmBy !== null ? { ...task, lease: heldAs(lease, holding, now) } : task;
  });
  return expireLeases({ ...state, tasks }, now);
}

function heldAs(lease: LeaseState, holding: LeaseHolding, now: number): LeaseState {
  if (holding === "held") return { ...lease, expiresAt: now + LEASE_MS, confirmBy: null, isSuspected: false };
  if (holding === "not-held") return { ...lease, expiresAt: now };
  const returnBy = now + Math.max(MIN_RETURN_MS, graceMs(now - lease.since));
  const expiresAt = lease.isSuspected ? lease.expiresAt : Math.min(lease.expiresAt, returnBy);
  return { ...lease, expiresAt, confirmBy: now + ASK_AGAIN_MS, isSuspected: true };
}

/**
 * Ends a lease whose process has ended. Null if the lease is over for another reason: another node may have its task.
 */
export function endLease(state: JobState, proof: LeaseProof, now: number): JobState | null {
  const { verdict, task } = checkLease(state, proof);
  if (verdict === "superseded") return null;
  if (!task?.lease || task.phase !== "leased") return state;
  return expireLeases(patchTask(state, task.id, { lease: { ...task.lease, expiresAt: now } }), now);
}

const LOST = "The node did not report again";

/**
 * Ends every expired lease. The lease stays in the state, so that its node may still report until another node claims
 * the task.
 */
export function expireLeases(state: JobState, now: number): JobState {
  let next = state;
  for (const task of state.tasks) {
    // The last allowed loss of a task ends other tasks of a chunked job, too.
    const isLost = task.phase === "leased" && task.lease && task.lease.expiresAt <= now && next.tasks.includes(task);
    if (isLost) next = loseTask(endAttempt(next, task, { outcome: "lost", reason: LOST }, now), task.id, now);
  }
  return next === state ? state : endIfDone(next, now);
}
