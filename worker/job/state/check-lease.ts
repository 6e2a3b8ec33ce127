// Checks whether a lease is valid: which node may still report on a task or store its files. Pure.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { JobState } from "./job-state.ts";
import type { TaskState } from "./task-state.ts";
import { moveTask } from "./task-table.ts";

/**
 * `current`: the lease is valid; `repeat`: the report was accepted before; `superseded`: the lease is no longer valid.
 */
export type LeaseVerdict = "current" | "repeat" | "superseded";

/** The task of a lease, and the verdict on the lease. */
export function checkLease(state: JobState, proof: LeaseProof): { verdict: LeaseVerdict; task: TaskState | null } {
  const named = parseLeaseId(proof.lease);
  const task = state.tasks.find((candidate) => candidate.id === named?.task) ?? null;
  if (!task && named && hasChunkOf(state, named, proof.token)) return { verdict: "repeat", task };
  if (!task?.lease || task.attempt !== named?.attempt || task.lease.token !== proof.token) {
    return { verdict: "superseded", task };
  }
  if (task.phase === "completing" || task.phase === "done") return { verdict: "repeat", task };
  return { verdict: moveTask(task.phase, "renew") ? "current" : "superseded", task };
}

/** True if a lease may still store files of an output: no other node has its task, and the output has not ended. */
export function mayStore(state: JobState, lease: LeaseId, output: number): boolean {
  const named = parseLeaseId(lease);
  const task = state.tasks.find((candidate) => candidate.id === named?.task);
  const isCurrent = task?.lease != null && task.attempt === named?.attempt && moveTask(task.phase, "renew") !== null;
  return isCurrent && !isTerminalOutput(state.outputs[output]?.phase ?? "failed");
}

/** True if the lease brought a chunk: its task was removed after that. */
const hasChunkOf = (state: JobState, named: { task: string; attempt: number }, token: string): boolean =>
  Object.values(state.chunkResults).some(
    (result) => result.task === named.task && result.attempt === named.attempt && result.token === token,
  );
