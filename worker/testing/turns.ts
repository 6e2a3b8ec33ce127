// Turns with a job for a single purpose, as a hub would send them.
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { JobRpc } from "../rpc/job.ts";
import { type ClaimRequest, EMPTY_TURN } from "../rpc/turn.ts";

type Job = Pick<JobRpc, "turn">;

/** Claims tasks for a node. */
export async function claimFrom(job: Job, request: ClaimRequest): Promise<readonly Assignment[]> {
  return (await job.turn({ ...EMPTY_TURN, want: [request] })).assigned[0] ?? [];
}

/** Reports progress. Returns the leases that their nodes must drop. */
export async function sendProgress(job: Job, progress: readonly ProgressItem[]): Promise<readonly LeaseId[]> {
  return (await job.turn({ ...EMPTY_TURN, progress })).cancel;
}

/** Reports the leases of a node that has reconnected. Returns the leases that the node must drop. */
export async function renewLeases(job: Job, alive: readonly LeaseProof[]): Promise<readonly LeaseId[]> {
  return (await job.turn({ ...EMPTY_TURN, alive })).cancel;
}
