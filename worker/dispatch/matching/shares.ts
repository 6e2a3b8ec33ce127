// The number of slots that an account may use: by its share of the slots, and by its quota.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { SlotUse } from "./nodes/node-slots.ts";
import type { SlotSums } from "./nodes/slot-sums.ts";
import type { Account } from "./waiting/accounts.ts";
import type { Entry } from "./waiting/ticket-queue.ts";

/** The number of inspect slots per slot that is kept for other accounts. */
const KEPT_SHARE = 8;

/**
 * The number of a class's slots that an account may use. While another account has a ticket that fits: half of them.
 * Otherwise all slots, except some inspect slots. Inspections mostly wait for the network: without the kept slots,
 * another account would wait as long as the slowest source takes. Keeping an encode slot free would waste a machine.
 */
export const shareOf = (slotClass: SlotClass, slots: number, othersWait: boolean): number =>
  othersWait
    ? Math.max(1, Math.ceil(slots / 2))
    : slots - (slotClass === "inspect" ? Math.floor(slots / KEPT_SHARE) : 0);

/** The number of further slots that the account of a ticket may use for such tickets. */
export function roomOf({ account, ticket }: Entry, sums: SlotSums, othersWait: boolean): number {
  const { slotClass, requirements } = ticket;
  const { pool } = requirements;
  const held = (use: SlotUse): number => sums.held(pool, use, account.id);
  const share = shareOf(slotClass, sums.slots(pool, slotClass), othersWait) - held(slotClass);
  // Inspections hold encode slots.
  const encodes = sums.slots(pool, "encode");
  const encodeShare =
    encodes === 0 ? Infinity : shareOf("encode", encodes, othersWait) - held("encode") - held("held encode");
  const ofClass = slotClass === "inspect" ? Math.min(share, encodeShare) : share;
  return Math.min(ofClass, quotaOf(account, sums));
}

/** The number of further tasks that an account may run. */
export const quotaOf = ({ id, maxRunning }: Pick<Account, "id" | "maxRunning">, sums: SlotSums): number =>
  maxRunning === null ? Infinity : maxRunning - sums.tasksOf(id);
