// A job's calls to the hub of its pool.
import type { LeaseId } from "#shared/ids.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { withDeadline } from "../../deadline.ts";
import {
  type Advertised,
  type HubBinding,
  hubOf,
  type LeaseHolder,
  type LeaseHolding,
  type TicketOffer,
} from "../../rpc/hub.ts";
import type { Place } from "../../rpc/hub-reports.ts";

/** Advertises a job's tasks in a pool. */
export const advertiseTo = (env: HubBinding, pool: string, offers: TicketOffer[]): Promise<Advertised> =>
  withDeadline("advertise", hubOf(env, pool).advertise(offers));

/** Number of encodes that all nodes of a pool can run at the same time, including running encodes. */
export const capacityOf = (env: HubBinding, pool: string): Promise<number> =>
  withDeadline("capacity", hubOf(env, pool).capacity());

/** Position of a job among the jobs that wait for the nodes of a pool; null if nothing of it waits there. */
export const placeIn = (env: HubBinding, pool: string, jobId: string): Promise<Place | null> =>
  withDeadline("place", hubOf(env, pool).place(jobId));

/** The ffmpeg runs of leases, as their nodes report them now. */
export const runningIn = (env: HubBinding, pool: string, leases: LeaseId[]): Promise<CommandReport[][]> =>
  withDeadline("running", hubOf(env, pool).running(leases));

/** Returns for each lease whether its node has it, as far as the hub knows. */
export const holdersIn = (env: HubBinding, pool: string, leases: LeaseHolder[]): Promise<readonly LeaseHolding[]> =>
  withDeadline("holders", hubOf(env, pool).holders(leases));

/** Asks the hub to notify the nodes of leases that the leases have ended. */
export const revokeIn = (env: HubBinding, pool: string, leases: LeaseId[]): Promise<void> =>
  withDeadline("revoke", hubOf(env, pool).revoke(leases));
