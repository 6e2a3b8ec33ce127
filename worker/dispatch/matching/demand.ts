// The amount of waiting and running work by pool and class, and the place of a job in it.
import { waitsForOthers } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import { bandsOf, isOlder } from "./choose.ts";
import type { Roster } from "./nodes/roster.ts";
import type { Ticket } from "./waiting/tickets.ts";

export type Demand = {
  readonly pool: string;
  readonly slotClass: SlotClass;
  /** Number of waiting tasks, and of running tasks. */
  readonly waiting: number;
  readonly running: number;
  /** Waiting time of the oldest task; ms. */
  readonly oldestMs: number;
  /** Average time of a task; seconds. */
  readonly meanS: number;
};

/** The state of a hub that determines its demand. */
export type DemandSource = {
  readonly roster: Pick<Roster, "profiles" | "values" | "sums">;
  readonly tickets: readonly Ticket[];
  /** Average time of a task, in seconds. */
  readonly meanS: Readonly<Record<SlotClass, number>>;
};

/** Iterates over all tickets and leases. */
export function demandOf({ roster, tickets, meanS }: DemandSource, now: number): Demand[] {
  const running = roster.values().flatMap(({ profile: { pool }, leases }) =>
    // A task that waits for other tasks needs no node.
    Object.entries(leases).flatMap(([lease, slotClass]) => (waitsForOthers(lease) ? [] : [{ pool, slotClass }])),
  );
  const pools = roster.profiles.pools();
  for (const { requirements } of tickets) pools.add(requirements.pool);
  return [...pools].flatMap((pool) =>
    SLOT_CLASSES.map((slotClass) => {
      // An inspection also holds an encode slot for its job.
      const takes = (task: SlotClass): boolean => task === slotClass || task === "inspect";
      const waiting = tickets.filter((ticket) => ticket.requirements.pool === pool && takes(ticket.slotClass));
      return {
        pool,
        slotClass,
        waiting: waiting.reduce((sum, { count }) => sum + count, 0),
        running: running.filter((task) => task.pool === pool && takes(task.slotClass)).length,
        oldestMs: waiting.reduce((oldest, { waitingSince }) => Math.max(oldest, now - waitingSince), 0),
        meanS: meanS[slotClass],
      };
    }),
  );
}

/**
 * The place of a job's work among the work that waits for the same nodes, and its approximate start. Returns null if no
 * task of the job waits. Jobs of its account with a higher band of priority, and older jobs in the
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
