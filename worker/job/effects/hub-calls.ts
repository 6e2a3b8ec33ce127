// A job's calls to hubs: those of its pool, and those of its leases.
import type { LeaseId } from "#shared/ids.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import {
  type Advertised,
  FIRST_HUB,
  type HubBinding,
  hubNames,
  hubOf,
  hubsFor,
  type SentOffer,
} from "../../rpc/hub.ts";
import type { JobState } from "../state/job-state.ts";

/** A pool with at most so many hubs hears of every job; in a larger one each job asks two hubs of a region first. */
const FEW_HUBS = 4;

/**
 * Advertises to the hubs of a pool: to all of them if they are few, if the work has waited (`isLate`), or if the first
 * ones know no node that fits.
 */
export async function advertiseTo(
  env: HubBinding,
  { pool, jobId, isLate }: { readonly pool: string; readonly jobId: string; readonly isLate: boolean },
  offers: SentOffer[],
): Promise<Advertised> {
  const all = hubNames(env, pool);
  const first = isLate || all.length <= FEW_HUBS ? all : hubsFor(env, pool, jobId);
  const send = (names: readonly string[]) =>
    Promise.all(names.map((name) => withDeadline("advertise", hubOf(env, name).advertise(offers))));
  const answer = combined(await send(first));
  const others = all.filter((name) => !first.includes(name));
  if (answer.waitingFor === null || others.length === 0) return answer;
  return combined([answer, ...(await send(others))]);
}

/** What no hub has. */
const combined = (answers: readonly Advertised[]): Advertised =>
  answers.find(({ waitingFor }) => waitingFor === null) ?? answers[0] ?? { waitingFor: null };

/** The number of encodes that all nodes of a pool can run at the same time, running ones included. */
export async function capacityOf(env: HubBinding, pool: string): Promise<number> {
  const counts = await Promise.all(
    hubNames(env, pool).map((name) => withDeadline("capacity", hubOf(env, name).capacity())),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Has the hubs of leases notify their nodes that they have ended. */
export async function revokeLeases(env: HubBinding, state: JobState, leases: readonly LeaseId[]): Promise<void> {
  const byHub = Map.groupBy(leases, (lease) => state.revokedOn[lease] ?? FIRST_HUB);
  await Promise.all([...byHub].map(([hub, own]) => withDeadline("revoke", hubOf(env, hub).revoke(own))));
}
