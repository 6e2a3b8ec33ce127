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

type MutableDemand = { -readonly [Field in keyof Demand]: Demand[Field] };

/** The state of a hub that determines its demand. */
export type DemandSource = {
  readonly roster: Pick<Roster, "kinds" | "running" | "get" | "slots" | "free">;
  readonly tickets: Iterable<Ticket>;
  /** Average time of a task, in seconds. */
  readonly meanS: Readonly<Record<SlotClass, number>>;
};

/** Iterates over all tickets and leases. */
export function demandOf({ roster, tickets, meanS }: DemandSource, now: number): Demand[] {
  const pools = new Map<string, Record<SlotClass, MutableDemand>>();
  const none = (pool: string, slotClass: SlotClass): MutableDemand => ({
    pool,
    slotClass,
    waiting: 0,
    running: 0,
    oldestMs: 0,
    meanS: meanS[slotClass],
  });
  const of = (pool: string): Record<SlotClass, MutableDemand> => {
    const known = pools.get(pool);
    if (known) return known;
    const made = { inspect: none(pool, "inspect"), encode: none(pool, "encode") };
    pools.set(pool, made);
    return made;
  };
  for (const pool of roster.kinds.pools()) of(pool);
  for (const { requirements, slotClass, count, waitingSince } of tickets) {
    const queues = of(requirements.pool);
    for (const taken of slotsOf({ slotClass })) {
      const queue = queues[taken];
      queue.waiting += count;
      queue.oldestMs = Math.max(queue.oldestMs, now - waitingSince);
    }
  }
  for (const running of roster.running()) {
    // The task needs no node: it waits for other tasks.
    if (waitsForOthers(running.lease)) continue;
    const queues = of(roster.get(running.nodeId)?.profile.pool ?? "");
    for (const taken of slotsOf(running)) queues[taken].running += 1;
  }
  return [...pools.values()].flatMap(({ inspect, encode }) => [inspect, encode]);
}

/** The slots that a task takes: an inspection holds an encode slot for its job. */
const slotsOf = ({ slotClass }: { readonly slotClass: SlotClass }): readonly SlotClass[] =>
  slotClass === "inspect" ? SLOT_CLASSES : [slotClass];
