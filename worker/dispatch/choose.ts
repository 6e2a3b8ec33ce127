// Which node is offered which ticket next. Pure.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/protocol.ts";
import type { ConnectedNode, Roster } from "./roster.ts";
import type { TicketQueue } from "./ticket-queue.ts";
import type { Ticket } from "./tickets.ts";

export type Offer<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };

/** When nothing fits, `lookAt` is when the soonest ticket opens to more nodes that a free slot waits for, if any does. */
export type Choice<Node> = { readonly offer: Offer<Node> | null; readonly lookAt: number | null };

/** One of so many slots for transfers is kept for accounts that do not have all others. */
const KEPT_PART = 8;

/**
 * How many slots of a class an account may hold of all that the connected nodes have. While another account waits that could
 * use one: half of them. Else all, except for some of those that wait for the network: who comes then would wait as long
 * as the slowest source takes, while a slot of an encoder that is kept free costs a machine.
 */
export const shareOf = (slotClass: SlotClass, slots: number, othersWait: boolean): number =>
  othersWait
    ? Math.max(1, Math.ceil(slots / 2))
    : slots - (slotClass === "inspect" ? Math.floor(slots / KEPT_PART) : 0);

/**
 * The next offer: the first ticket in turn that a node with a free slot may take, to the one with the most free slots. While
 * it is preferred, and connected, a ticket waits for the node that holds the source; nodes to avoid are passed by as long as
 * others are connected. Accounts that hold their share (shareOf) are passed by. Looks at no more tickets than those that
 * wait in this way, at most one of any other account, and at none for a class without a free slot.
 */
export function choose<Node extends ConnectedNode>(
  roster: Roster<Node>,
  queue: TicketQueue,
  now: number,
): Choice<Node> {
  let lookAt = Infinity;
  for (const slotClass of SLOT_CLASSES) {
    if (!roster.mostFree(slotClass, [])) continue;
    const found = chooseOf(slotClass, roster, queue, now);
    if (found.offer) return { offer: found.offer, lookAt: null };
    lookAt = Math.min(lookAt, found.lookAt);
  }
  return { offer: null, lookAt: lookAt === Infinity ? null : lookAt };
}

type Found<Node> = { readonly offer: Offer<Node> | null; readonly lookAt: number };

function chooseOf<Node extends ConnectedNode>(
  slotClass: SlotClass,
  roster: Roster<Node>,
  queue: TicketQueue,
  now: number,
): Found<Node> {
  const slots = roster.slots(slotClass);
  const roomOf = (accountId: string, othersWait: boolean): number =>
    shareOf(slotClass, slots, othersWait) - roster.held(slotClass, accountId);
  let lookAt = Infinity;
  const sated: [accountId: string, tickets: Iterable<Ticket>][] = [];
  for (const [accountId, tickets] of queue.accounts(slotClass)) {
    const room = roomOf(accountId, true);
    if (room <= 0) {
      // No more than two accounts can hold half of the slots each.
      sated.push([accountId, tickets]);
      continue;
    }
    const { offer, ...found } = firstOffer(tickets, roster, now);
    lookAt = Math.min(lookAt, found.lookAt);
    if (!offer) continue;
    if (offer.slots <= room) return { offer, lookAt };
    const most = othersWait(accountId, slotClass, roster, queue, now) ? room : roomOf(accountId, false);
    return { offer: { ...offer, slots: Math.min(offer.slots, most) }, lookAt };
  }
  for (const [accountId, tickets] of sated) {
    const room = roomOf(accountId, false);
    const { offer, ...found } = firstOffer(tickets, roster, now);
    lookAt = Math.min(lookAt, found.lookAt);
    if (offer && room > 0) return { offer: { ...offer, slots: Math.min(offer.slots, room) }, lookAt };
  }
  return { offer: null, lookAt };
}

/** Whether another account has a ticket that could be offered now. */
function othersWait<Node extends ConnectedNode>(
  accountId: string,
  slotClass: SlotClass,
  roster: Roster<Node>,
  queue: TicketQueue,
  now: number,
): boolean {
  for (const [other, tickets] of queue.accounts(slotClass)) {
    if (other !== accountId && firstOffer(tickets, roster, now).offer) return true;
  }
  return false;
}

/** The first of an account's tickets that can be offered, or when the soonest of them opens. */
function firstOffer<Node extends ConnectedNode>(
  tickets: Iterable<Ticket>,
  roster: Roster<Node>,
  now: number,
): Found<Node> {
  let lookAt = Infinity;
  for (const ticket of tickets) {
    const node = ticket.notBefore > now ? null : taker(ticket, roster, now);
    if (node) return { offer: { ticket, node, slots: Math.min(ticket.count, node.free[ticket.slotClass]) }, lookAt };
    lookAt = Math.min(lookAt, opensAt(ticket, now));
  }
  return { offer: null, lookAt };
}

function taker<Node extends ConnectedNode>(ticket: Ticket, roster: Roster<Node>, now: number): Node | null {
  const { slotClass, prefer, preferUntil, avoid, avoidUntil } = ticket;
  const avoided = now < avoidUntil ? avoid.filter((nodeId) => roster.taker(nodeId)) : [];
  const shunned = avoided.length < roster.taking ? avoided : [];
  const preferred = now < preferUntil && prefer !== null && !shunned.includes(prefer) ? roster.taker(prefer) : null;
  if (preferred) return preferred.free[slotClass] > 0 ? preferred : null;
  return roster.mostFree(slotClass, shunned);
}

/** When a waiting ticket opens to more nodes; never: Infinity. */
function opensAt({ prefer, preferUntil, avoid, avoidUntil, notBefore }: Ticket, now: number): number {
  const times = [notBefore, prefer === null ? 0 : preferUntil, avoid.length === 0 ? 0 : avoidUntil];
  return Math.min(...times.filter((time) => time > now));
}
