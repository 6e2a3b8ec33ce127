// How many slots an account may use: by its share of the slots, its quota, and what is reserved.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Use } from "./nodes/kinds.ts";
import type { Roster } from "./nodes/roster.ts";
import { ABOVE_USUAL, type Line } from "./waiting/lines.ts";

/** Settings of the operator. */
export type MatchingConfig = {
  /** The share of a pool's slots that is kept for work of a priority above the usual, 0 to 1. */
  readonly reservedShare: number;
};

export const DEFAULT_CONFIG: MatchingConfig = { reservedShare: 0 };

/** One in this many inspect slots is kept for other accounts. */
const KEPT_SHARE = 8;

/**
 * How many of all slots of a class an account may use. While another account has a ticket that fits: half of them.
 * Otherwise all, except some inspect slots, which mostly wait for the network: without them another account would wait
 * as long as the slowest source takes. Keeping an encode slot free would waste a machine.
 */
export const shareOf = (slotClass: SlotClass, slots: number, othersWait: boolean): number =>
  othersWait
    ? Math.max(1, Math.ceil(slots / 2))
    : slots - (slotClass === "inspect" ? Math.floor(slots / KEPT_SHARE) : 0);

type SlotUse = Pick<Roster, "slots" | "free" | "held" | "tasksOf">;

/** How many more slots a line's account may use. */
export function roomOf(
  { account, group, band }: Line,
  roster: SlotUse,
  { reservedShare, othersWait }: MatchingConfig & { readonly othersWait: boolean },
): number {
  const { requirements, slotClass, nodeId } = group;
  const { pool } = requirements;
  const held = (use: Use): number => roster.held(pool, use, account.id);
  const share = shareOf(slotClass, roster.slots(pool, slotClass), othersWait) - held(slotClass);
  // Inspections hold encode slots.
  const encodes = roster.slots(pool, "encode");
  const encodeShare =
    encodes === 0 ? Infinity : shareOf("encode", encodes, othersWait) - held("encode") - held("held encode");
  const ofClass = slotClass === "inspect" ? Math.min(share, encodeShare) : share;
  const reserved = band < ABOVE_USUAL && nodeId === null ? Math.floor(encodes * reservedShare) : 0;
  const unreserved = reserved === 0 ? Infinity : roster.free(pool, "encode") - reserved;
  return Math.min(ofClass, unreserved, quotaOf(account, roster));
}

/** How many more tasks an account may run. */
export const quotaOf = (
  { id, maxRunning }: { readonly id: string; readonly maxRunning: number | null },
  roster: SlotUse,
): number => (maxRunning === null ? Infinity : maxRunning - roster.tasksOf(id));
