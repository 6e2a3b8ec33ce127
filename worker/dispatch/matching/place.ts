// The place of a job's work among the work that waits for the same nodes, and its approximate start.
import type { Place } from "../../rpc/hub-reports.ts";
import { bandsOf, isOlder } from "./choose.ts";
import type { DemandSource } from "./demand.ts";
import type { Ticket } from "./waiting/tickets.ts";

/**
 * Returns null if no task of the job waits. Jobs of its account with a higher band of priority, and older jobs in the
 * band, come first. Other accounts take turns: each gets its share of the slots, by its weight, unless a `maxPriority`
 * puts its jobs first or last. The estimate assumes that all slots suit the job, and that each task takes the average
 * time.
 */
export function placeOf(jobId: string, { roster, tickets, meanS }: DemandSource, now: number): Place | null {
  const mine = tickets.find((ticket) => ticket.jobId === jobId);
  if (!mine) return null;
  const { pool } = mine.requirements;
  const { among, within } = bandsOf(mine, now);
  const others = tickets.filter((ticket) => ticket.jobId !== jobId && ticket.requirements.pool === pool);
  const inTurn = others.filter((ticket) => bandsOf(ticket, now).among === among);
  const before = others.filter((ticket) => {
    const bands = bandsOf(ticket, now);
    if (ticket.accountId !== mine.accountId || bands.among !== among) return bands.among > among;
    return bands.within === within ? isOlder(ticket, mine) : bands.within > within;
  });
  const weights = new Map([mine, ...inTurn].map(({ accountId, weight }) => [accountId, weight]));
  const share = mine.weight / [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const slots = Math.min(roster.sums.slots(pool, "encode") * share, mine.maxRunning ?? Infinity);
  const secondsOf = ({ slotClass, count }: Ticket): number =>
    slotClass === "inspect" ? meanS.inspect + meanS.encode : count * meanS.encode;
  // Time until a slot is free: the running tasks end in succession.
  const first = roster.sums.free(pool, "encode") > 0 ? 0 : meanS.encode;
  const seconds = before.reduce((sum, ticket) => sum + secondsOf(ticket), first) / slots;
  return {
    ahead: new Set(before.map((ticket) => ticket.jobId)).size,
    seconds: Number.isFinite(seconds) ? Math.ceil(seconds) : null,
  };
}
