// Lends tickets to another hub of the pool whose nodes have free slots, in the order in which they would be served
// here.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Capacity } from "../../rpc/hub.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Roster } from "./nodes/roster.ts";
import { rankOf } from "./ranks.ts";
import { quotaOf } from "./shares.ts";
import type { Accounts } from "./waiting/accounts.ts";
import { type Group, isLineBefore, type Line } from "./waiting/lines.ts";
import type { Ticket } from "./waiting/tickets.ts";
import type { Waiting } from "./waiting/waiting.ts";

/** Tickets that are lent at a time, and the kinds of nodes for which they are borrowed. */
const MAX_LENT = 64;
const MAX_KINDS = 8;

type Slots = { readonly profile: Capacity["profile"]; encode: number; inspect: number };
type Next = { readonly line: Line; readonly slots: Slots };

/** The free slots of nodes, by what the nodes have; empty if there are none. */
export function capacityOf<Node extends ConnectedNode>(roster: Roster<Node>): Capacity[] {
  const free = [...roster.kinds.values()].map((kind) => ({ profile: kind.profile, free: kind.free() }));
  return free.filter((of) => of.free.inspect + of.free.encode > 0).slice(0, MAX_KINDS);
}

/** Whether tickets wait that another hub may take. */
export const hasLendable = <Node extends ConnectedNode>(waiting: Waiting<Node>): boolean =>
  (["encode", "inspect"] as const).some((slotClass) =>
    [...waiting.lendable(slotClass)].some((group) => !group.isParked),
  );

/** Takes tickets that fit such slots. Work that has begun comes before inspections. */
export function lend<Node extends ConnectedNode>(
  capacity: readonly Capacity[],
  { waiting, accounts, roster }: { waiting: Waiting<Node>; accounts: Accounts; roster: Roster<Node> },
  now: number,
): Ticket[] {
  const free = capacity.map(({ profile, free: slots }): Slots => ({ profile, ...slots }));
  const lent: Ticket[] = [];
  const ofAccounts = new Map<string, number>();
  const quota = ({ account }: Line): number => quotaOf(account, roster) - (ofAccounts.get(account.id) ?? 0);
  for (const slotClass of ["encode", "inspect"] as const) {
    while (lent.length < MAX_LENT) {
      const next = firstOf(waiting.lendable(slotClass), slotClass, free, (line) => quota(line) > 0);
      const ticket = next?.line.entries.peek()?.ticket;
      if (!next || !ticket) break;
      const { slots, line } = next;
      const count = Math.min(ticket.count, slots[slotClass], quota(line));
      ofAccounts.set(line.account.id, (ofAccounts.get(line.account.id) ?? 0) + count);
      slots[slotClass] -= count;
      // A node that encodes has no room for the source of another job.
      if (slotClass === "encode") slots.inspect -= count;
      waiting.take({ ...ticket, isCountOld: false }, count);
      accounts.charge(line.account, slotClass, count, now);
      waiting.accountChanged(line.account);
      lent.push({ ...ticket, count });
    }
  }
  return lent;
}

/** The first line in turn that fits such slots, with those that suit it best. */
function firstOf(
  groups: Iterable<Group>,
  slotClass: SlotClass,
  free: readonly Slots[],
  accepts: (line: Line) => boolean,
): Next | null {
  let first: Next | null = null;
  for (const group of groups) {
    const slots = bestOf(group, slotClass, free);
    const line = slots && group.first(accepts);
    if (line && (!first || isLineBefore(line, first.line))) first = { line, slots };
  }
  return first;
}

function bestOf({ requirements, preferences }: Group, slotClass: SlotClass, free: readonly Slots[]): Slots | null {
  let best: { readonly slots: Slots; readonly rank: number } | null = null;
  for (const slots of free) {
    const rank = slots[slotClass] > 0 ? rankOf(requirements, preferences, slots.profile) : null;
    if (rank !== null && (!best || rank < best.rank)) best = { slots, rank };
  }
  return best?.slots ?? null;
}
