// A job's calls to hubs: those of its pool, and those of its leases.
import type { LeaseId } from "#shared/ids.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { FIRST_HUB, type HubBinding, hubNames, hubOf, type LeaseHolder, type LeaseHolding } from "../../rpc/hub.ts";
import { isUnknownMethod } from "../../rpc/previous-turn.ts";
import type { JobState } from "../state/job-state.ts";

/** The number of encodes that all nodes of a pool can run at the same time, running ones included. */
export async function capacityOf(env: HubBinding, pool: string): Promise<number> {
  const counts = await Promise.all(
    hubNames(env, pool).map((name) => withDeadline("capacity", hubOf(env, name).capacity())),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * What a hub knows of leases of its nodes. A hub of the previous release does not say: then they last until they
 * expire.
 */
export async function holdersOf(env: HubBinding, hub: string, leases: LeaseHolder[]): Promise<readonly LeaseHolding[]> {
  try {
    return await withDeadline("holders", hubOf(env, hub).holders(leases));
  } catch (error) {
    if (isUnknownMethod(error)) return leases.map(() => "held");
    throw error;
  }
}

/** Has the hubs of leases notify their nodes that they have ended. */
export async function revokeLeases(env: HubBinding, state: JobState, leases: readonly LeaseId[]): Promise<void> {
  const byHub = Map.groupBy(leases, (lease) => state.revokedOn[lease] ?? FIRST_HUB);
  await Promise.all([...byHub].map(([hub, own]) => withDeadline("revoke", hubOf(env, hub).revoke(own))));
}
