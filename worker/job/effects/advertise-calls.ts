// To which hubs of a pool a job advertises: first to one, and to more only as far as its nodes have no free slots.
import { messageOf } from "#shared/log.ts";
import { log } from "../../log.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { type Advertised, FIRST_HUB, type HubBinding, hubOf, hubsFor, type SentOffer } from "../../rpc/hub.ts";

export type AdvertisedJob = {
  readonly pool: string;
  readonly jobId: string;
  /** The hub of the node that has the source; null: the first hub. */
  readonly sourceHub: string | null;
  /** Whether the work has waited. */
  readonly isLate: boolean;
};

/** What a hub answered; null: it was not reachable. */
type Asked = { readonly name: string; readonly answer: Advertised | null };

/**
 * Advertises to the hub whose node has the source, or to the one that the job prefers. What free nodes do not get there
 * at once is advertised to a second one: whichever has a free slot first gets it, and others borrow from these two. All
 * hubs hear of work that has waited, and of work that fits no node of the first two. Throws when tasks are left and a
 * hub was not reachable.
 */
export async function advertiseTo(env: HubBinding, job: AdvertisedJob, offers: SentOffer[]): Promise<Advertised> {
  const [first, ...others] = hubOrder(env, job, offers);
  if (first === undefined) return { waitingFor: null };
  const asked = [await ask(env, first, offers)];
  let rest = remaining(offers, asked[0]?.answer ?? null);
  for (const names of job.isLate ? [others] : [others.slice(0, 1), others.slice(1)]) {
    const isOver = rest.every(({ count }) => count === 0);
    if (isOver || names.length === 0) break;
    if (asked.length > 1 && asked.some(({ answer }) => answer?.waitingFor === null)) break;
    asked.push(...(await Promise.all(names.map((name) => ask(env, name, rest)))));
    if (asked.length === 2) rest = remaining(rest, asked[1]?.answer ?? null);
  }
  const answers = asked.flatMap(({ answer }) => answer ?? []);
  const unreachable = asked.find(({ answer }) => answer === null);
  if (unreachable && rest.some(({ count }) => count > 0)) throw new Error(`${unreachable.name} is not reachable`);
  // What no hub has.
  return answers.find(({ waitingFor }) => waitingFor === null) ?? answers[0] ?? { waitingFor: null };
}

function hubOrder(env: HubBinding, { pool, jobId, sourceHub }: AdvertisedJob, offers: readonly SentOffer[]): string[] {
  const names = hubsFor(env, pool, jobId);
  const source = offers.some(({ prefer }) => prefer !== null) ? (sourceHub ?? FIRST_HUB) : null;
  return source !== null && names.includes(source) ? [source, ...names.filter((name) => name !== source)] : names;
}

async function ask(env: HubBinding, name: string, offers: SentOffer[]): Promise<Asked> {
  try {
    return { name, answer: await withDeadline("advertise", hubOf(env, name).advertise(offers)) };
  } catch (error) {
    log.warn("hub not reachable", { hub: name, error: messageOf(error) });
    return { name, answer: null };
  }
}

/** The offers of what a hub's free nodes did not get at once. While it has the source, others wait for it. */
function remaining(offers: SentOffer[], answer: Advertised | null): SentOffer[] {
  return offers.map((offer, at) => ({
    ...offer,
    count: Math.max(0, offer.count - (answer?.taken?.[at] ?? 0)),
    ...(answer?.hasSource && offer.prefer !== null ? { notBefore: offer.preferUntil } : {}),
  }));
}
