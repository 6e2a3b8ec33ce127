// Which node is offered which ticket next. Pure.
import type { SlotClass } from "#shared/protocol.ts";
import type { ConnectedNode } from "./roster.ts";
import type { Ticket } from "./tickets.ts";

export type Offer<Node> = { ticket: Ticket; node: Node; slots: number };

/**
 * The next offer: the ticket of the oldest job that a node with a free slot may take, to the one with the most free
 * slots. Null when nothing fits. While it is preferred, and connected, a ticket waits for the node that holds the
 * source; nodes to avoid are passed by as long as others are connected.
 */
export function choose<Node extends ConnectedNode>(
  nodes: readonly Node[],
  tickets: Iterable<Ticket>,
  now: number,
): Offer<Node> | null {
  if (!nodes.some(({ free }) => free.inspect > 0 || free.encode > 0)) return null;
  let best: Offer<Node> | null = null;
  for (const ticket of tickets) {
    const { count, since, slotClass, notBefore } = ticket;
    if (count < 1 || notBefore > now || (best && best.ticket.since <= since)) continue;
    const node = mostFree(eligible(nodes, ticket, now), slotClass);
    if (node) best = { ticket, node, slots: Math.min(count, node.free[slotClass]) };
  }
  return best;
}

function eligible<Node extends ConnectedNode>(nodes: readonly Node[], ticket: Ticket, now: number): readonly Node[] {
  const { prefer, preferUntil, avoid, avoidUntil } = ticket;
  const others = now < avoidUntil && avoid.length > 0 ? nodes.filter(({ nodeId }) => !avoid.includes(nodeId)) : nodes;
  const welcome = others.length > 0 ? others : nodes;
  const preferred = now < preferUntil && prefer !== null ? welcome.filter(({ nodeId }) => nodeId === prefer) : [];
  return preferred.length > 0 ? preferred : welcome;
}

function mostFree<Node extends ConnectedNode>(nodes: readonly Node[], slotClass: SlotClass): Node | null {
  let best: Node | null = null;
  for (const node of nodes) {
    if (node.free[slotClass] > (best?.free[slotClass] ?? 0)) best = node;
  }
  return best;
}

/** When to look again: the soonest time at which a waiting ticket opens to more nodes; null when none does. */
export function nextOpening(tickets: Iterable<Ticket>, now: number): number | null {
  let soonest: number | null = null;
  for (const { count, prefer, preferUntil, avoid, avoidUntil, notBefore } of tickets) {
    const times = [notBefore, prefer === null ? 0 : preferUntil, avoid.length === 0 ? 0 : avoidUntil];
    const coming = count > 0 ? times.filter((time) => time > now) : [];
    if (coming.length > 0) soonest = Math.min(soonest ?? Infinity, ...coming);
  }
  return soonest;
}
