// Which node is offered which ticket next. Pure.
import type { SlotClass } from "#shared/protocol.ts";
import type { ConnectedNode } from "./roster.ts";
import type { Ticket } from "./tickets.ts";

export type Offer<Node> = { ticket: Ticket; node: Node; slots: number };

/**
 * The next offer: the oldest ticket that a node with a free slot may take, given to the node with the most free slots.
 * Null when nothing fits. Until `openAt` a ticket waits for the node it prefers, if that is connected, and passes by
 * nodes it would rather avoid, if there are others.
 */
export function choose<Node extends ConnectedNode>(
  nodes: readonly Node[],
  tickets: Iterable<Ticket>,
  now: number,
): Offer<Node> | null {
  const byAge = [...tickets].filter(({ count }) => count > 0).sort((a, b) => a.advertisedAt - b.advertisedAt);
  for (const ticket of byAge) {
    const node = mostFree(eligible(nodes, ticket, now), ticket.slotClass);
    if (node) return { ticket, node, slots: Math.min(ticket.count, node.free[ticket.slotClass]) };
  }
  return null;
}

function eligible<Node extends ConnectedNode>(nodes: readonly Node[], ticket: Ticket, now: number): readonly Node[] {
  if (now >= ticket.openAt) return nodes;
  const others = nodes.filter((node) => !ticket.avoid.includes(node.nodeId));
  const welcome = others.length > 0 ? others : nodes;
  const preferred = welcome.filter((node) => node.nodeId === ticket.prefer);
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
  const times = [...tickets].filter(({ count, openAt }) => count > 0 && openAt > now).map(({ openAt }) => openAt);
  return times.length > 0 ? Math.min(...times) : null;
}
