// Chooses which node gets which ticket next. Pure.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode, Roster } from "./roster.ts";
import type { TicketQueue } from "./ticket-queue.ts";
import type { Ticket } from "./tickets.ts";

/** A ticket, the node that gets it, and for how many of its slots. */
export type Match<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };

/** Without a match, `lookAt` is when the first ticket opens to more nodes while they have a free slot; null: never. */
export type Choice<Node> = { readonly match: Match<Node> | null; readonly lookAt: number | null };

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

/**
 * The next match: the first ticket in turn that fits a node with a free slot, with the node that has the most free
 * slots. A ticket waits for its preferred node while that is connected; avoided nodes get it only if no others are
 * connected. Accounts that use their share (shareOf) are skipped. Only such waiting tickets and at most one other
 * ticket of each account are looked at, and none of a class without a free slot.
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
    if (found.match) return { match: found.match, lookAt: null };
    lookAt = Math.min(lookAt, found.lookAt);
  }
  return { match: null, lookAt: lookAt === Infinity ? null : lookAt };
}

type Found<Node> = { readonly match: Match<Node> | null; readonly lookAt: number };

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
  const atShare: [accountId: string, tickets: Iterable<Ticket>][] = [];
  for (const [accountId, tickets] of queue.accounts(slotClass)) {
    const room = roomOf(accountId, true);
    if (room <= 0) {
      // At most two accounts can use half of the slots each.
      atShare.push([accountId, tickets]);
      continue;
    }
    const { match, ...found } = firstMatch(tickets, roster, now);
    lookAt = Math.min(lookAt, found.lookAt);
    if (!match) continue;
    if (match.slots <= room) return { match, lookAt };
    const hasMatch = (ofOther: Iterable<Ticket>) => firstMatch(ofOther, roster, now).match !== null;
    const most = othersWait(accountId, queue.accounts(slotClass), hasMatch) ? room : roomOf(accountId, false);
    return { match: { ...match, slots: Math.min(match.slots, most) }, lookAt };
  }
  for (const [accountId, tickets] of atShare) {
    const room = roomOf(accountId, false);
    const { match, ...found } = firstMatch(tickets, roster, now);
    lookAt = Math.min(lookAt, found.lookAt);
    if (match && room > 0) return { match: { ...match, slots: Math.min(match.slots, room) }, lookAt };
  }
  return { match: null, lookAt };
}

/** Whether another account has a ticket that fits a node now. */
function othersWait(
  accountId: string,
  accounts: Iterable<[accountId: string, tickets: Iterable<Ticket>]>,
  hasMatch: (tickets: Iterable<Ticket>) => boolean,
): boolean {
  for (const [other, tickets] of accounts) {
    if (other !== accountId && hasMatch(tickets)) return true;
  }
  return false;
}

/** The first of an account's tickets that fits a node, or when the first of them opens to more nodes. */
function firstMatch<Node extends ConnectedNode>(
  tickets: Iterable<Ticket>,
  roster: Roster<Node>,
  now: number,
): Found<Node> {
  let lookAt = Infinity;
  for (const ticket of tickets) {
    const node = ticket.notBefore > now ? null : nodeFor(ticket, roster, now);
    if (node) return { match: { ticket, node, slots: Math.min(ticket.count, node.free[ticket.slotClass]) }, lookAt };
    lookAt = Math.min(lookAt, opensAt(ticket, now));
  }
  return { match: null, lookAt };
}

function nodeFor<Node extends ConnectedNode>(ticket: Ticket, roster: Roster<Node>, now: number): Node | null {
  const { slotClass, prefer, preferUntil, avoid, avoidUntil } = ticket;
  const connected = now < avoidUntil ? avoid.filter((nodeId) => roster.accepter(nodeId)) : [];
  const avoided = connected.length < roster.accepting ? connected : [];
  const preferred = now < preferUntil && prefer !== null && !avoided.includes(prefer) ? roster.accepter(prefer) : null;
  if (preferred) return preferred.free[slotClass] > 0 ? preferred : null;
  return roster.mostFree(slotClass, avoided);
}

/** When a waiting ticket opens to more nodes; Infinity: never. */
function opensAt({ prefer, preferUntil, avoid, avoidUntil, notBefore }: Ticket, now: number): number {
  const times = [notBefore, prefer === null ? 0 : preferUntil, avoid.length === 0 ? 0 : avoidUntil];
  return Math.min(...times.filter((time) => time > now));
}
