// Which node is offered which ticket next. Pure.
import { SLOT_CLASSES } from "#shared/protocol.ts";
import type { ConnectedNode, Roster } from "./roster.ts";
import type { TicketQueue } from "./ticket-queue.ts";
import type { Ticket } from "./tickets.ts";

export type Offer<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };

/** When nothing fits, `lookAt` is when the soonest ticket opens to more nodes that a free slot waits for, if any does. */
export type Choice<Node> = { readonly offer: Offer<Node> | null; readonly lookAt: number | null };

/**
 * The next offer: the first ticket in turn that a node with a free slot may take, to the one with the most free slots. While
 * it is preferred, and connected, a ticket waits for the node that holds the source; nodes to avoid are passed by as long as
 * others are connected. Looks at no more tickets than those that wait in this way, and at none for a class without a free slot.
 */
export function choose<Node extends ConnectedNode>(
  roster: Roster<Node>,
  queue: TicketQueue,
  now: number,
): Choice<Node> {
  let lookAt = Infinity;
  for (const slotClass of SLOT_CLASSES) {
    if (!roster.mostFree(slotClass, [])) continue;
    for (const ticket of queue.inTurn(slotClass)) {
      const node = ticket.notBefore > now ? null : taker(ticket, roster, now);
      if (node) return { offer: { ticket, node, slots: Math.min(ticket.count, node.free[slotClass]) }, lookAt: null };
      lookAt = Math.min(lookAt, opensAt(ticket, now));
    }
  }
  return { offer: null, lookAt: lookAt === Infinity ? null : lookAt };
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
