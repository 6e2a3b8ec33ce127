// Usage of a job, for the usage of its account (views/job-usage.ts).
import * as z from "zod";
import type { TaskState } from "./task-state.ts";

export const Used = z.object({
  /** Time of all ended leases, without the time in which their nodes only waited for chunks. */
  nodeMs: z.number(),
  /** The ends of earlier rounds, and the duration of these rounds. */
  failed: z.int(),
  aborted: z.int(),
  lastedMs: z.number(),
});
export type Used = z.infer<typeof Used>;

export const NOTHING_USED: Used = { nodeMs: 0, failed: 0, aborted: 0, lastedMs: 0 };

/**
 * Time (ms) of the leases that a change of the tasks has ended, whatever their outcome. Negative for an expired lease
 * that is valid again, because its node has returned: it is counted when it ends.
 */
export function endedLeaseMs(before: readonly TaskState[], after: readonly TaskState[], now: number): number {
  if (before === after) return 0;
  const running = new Set(after.flatMap((task) => (task.phase === "leased" ? [attemptOf(task)] : [])));
  return before.reduce((sum, task) => {
    const isRunning = running.has(attemptOf(task));
    if (!task.lease || (task.phase === "leased") === isRunning) return sum;
    const { since, expiresAt, waitedUntil = since } = task.lease;
    const lastedMs = waitedUntil === null ? 0 : Math.max(0, Math.min(now, expiresAt) - Math.max(since, waitedUntil));
    return isRunning ? sum - lastedMs : sum + lastedMs;
  }, 0);
}

const attemptOf = ({ id, attempt }: TaskState): string => `${id} ${attempt}`;

type Round = { readonly spec: { readonly createdAt: number }; startedAt: number; completedAt: number | null };

/** Duration (ms) of the job's latest round, from its creation or its restart. */
export const roundMs = ({ spec, startedAt, completedAt }: Round, now: number): number =>
  Math.max(0, (completedAt ?? now) - Math.max(spec.createdAt, startedAt));
