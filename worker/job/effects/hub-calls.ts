// A job's calls to the hub of its pool and to the hubs of its leases.
import type { LeaseId } from "#shared/ids.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import {
  type Advertised,
  FIRST_HUB,
  type HubBinding,
  hubName,
  hubOf,
  type LeaseHolder,
  type LeaseHolding,
  type TicketOffer,
} from "../../rpc/hub.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import type { JobState } from "../state/job-state.ts";

/** Advertises a job's tasks in a pool. */
export const advertiseTo = (env: HubBinding, pool: string, offers: TicketOffer[]): Promise<Advertised> =>
  withDeadline("advertise", hubOf(env, hubName(pool)).advertise(offers));

/** Number of encodes that all nodes of a pool can run at the same time, including running encodes. */
export const capacityOf = (env: HubBinding, pool: string): Promise<number> =>
  withDeadline("capacity", hubOf(env, hubName(pool)).capacity());

/** Position of a job among the jobs that wait for the nodes of a pool; null if nothing of it waits there. */
export const placeIn = (env: HubBinding, pool: string, jobId: string): Promise<Place | null> =>
  withDeadline("place", hubOf(env, hubName(pool)).place(jobId));

/** The ffmpeg runs of leases on a hub, as their nodes report them now. */
export const runningOn = (env: HubBinding, hub: string, leases: LeaseId[]): Promise<CommandReport[][]> =>
  withDeadline("running", hubOf(env, hub).running(leases));

/** Returns for each lease whether its node has it, as far as the hub knows. */
export const holdersOf = (env: HubBinding, hub: string, leases: LeaseHolder[]): Promise<readonly LeaseHolding[]> =>
  withDeadline("holders", hubOf(env, hub).holders(leases));

/** Asks the hubs of leases to notify their nodes that the leases have ended. */
export async function revokeLeases(env: HubBinding, state: JobState, leases: readonly LeaseId[]): Promise<void> {
  const byHub = Map.groupBy(leases, (lease) => state.revokedOn[lease] ?? FIRST_HUB);
  await Promise.all([...byHub].map(([hub, own]) => withDeadline("revoke", hubOf(env, hub).revoke(own))));
}
