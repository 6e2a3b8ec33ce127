// The amount of waiting and running work, for the operator, by pool and class.
import { waitsForOthers } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
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
