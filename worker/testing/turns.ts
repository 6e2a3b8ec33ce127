// Turns with a job for a single purpose, as a hub would send them.
import type { LeaseId } from "#shared/ids.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";
import type { JobRpc, jobOf } from "../rpc/job.ts";
import { type ClaimRequest, EMPTY_TURN, type SeenProgress } from "../rpc/turn.ts";
import { PROBE } from "./jobs.ts";

type Job = Pick<JobRpc, "turn">;
type Stub = ReturnType<typeof jobOf>;

/** Claims tasks for a node. */
export async function claimFrom(job: Job, request: ClaimRequest): Promise<readonly Assignment[]> {
  return (await job.turn({ ...EMPTY_TURN, want: [request] })).assigned[0] ?? [];
}

/** Claims a task of this class for a node. Throws if there is none. */
export async function claimOne(job: Job, slotClass: SlotClass, nodeId = "node-a"): Promise<Assignment> {
  const [assignment] = await claimFrom(job, { nodeId, session: `s-${nodeId}`, slotClass, max: 1 });
  if (!assignment) throw new Error(`No task for ${slotClass}`);
  return assignment;
}

/** Inspects the source of a job. */
export async function inspectSource(job: Stub, probe: MediaProbe = PROBE, nodeId?: string): Promise<void> {
  const { lease, token } = await claimOne(job, "inspect", nodeId);
  await job.complete(lease, { token, result: { kind: "inspect", probe } });
}

/** Reports progress. Returns the leases that their nodes must drop. */
export async function sendProgress(job: Job, progress: readonly SeenProgress[]): Promise<readonly LeaseId[]> {
  return (await job.turn({ ...EMPTY_TURN, progress })).cancel;
}

/** Reports the leases of a node that has reconnected. Returns the leases that the node must drop. */
export async function renewLeases(job: Job, alive: readonly LeaseProof[]): Promise<readonly LeaseId[]> {
  return (await job.turn({ ...EMPTY_TURN, alive })).cancel;
}
