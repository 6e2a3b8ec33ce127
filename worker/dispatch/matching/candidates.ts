// Finds the node that should take a ticket.
import type { ConnectedNode } from "./nodes/connected-node.ts";
import { mostFree, type RankedProfile } from "./nodes/node-profiles.ts";
import type { Roster } from "./nodes/roster.ts";
import { rankOf } from "./ranks.ts";
import type { Entry } from "./waiting/ticket-queue.ts";

export class Candidates<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;

  constructor(roster: Roster<Node>) {
    this.#roster = roster;
  }

  /**
   * Returns the node that has the source, if it has a free slot. Otherwise returns the node with the most free slots
   * among the nodes of the best profiles. Null: no node that may take the ticket has a free slot.
   */
  nodeFor(entry: Entry, now: number): Node | null {
    const { slotClass, preferUntil } = entry.ticket;
    const profiles = this.#profilesFor(entry);
    const avoided = this.#avoidedBy(entry, profiles, now);
    const source = this.#sourceOf(entry, profiles, avoided);
    if (source && this.#roster.freeForSources(source, slotClass) > 0) return source;
    if (source && now < preferUntil) return null;
    let best: { readonly node: Node; readonly free: number; readonly rank: number } | null = null;
    for (const { rank, nodes } of profiles) {
      if (best && rank > best.rank) break;
      const most = mostFree(nodes, slotClass, avoided);
      if (most && (!best || most.free > best.free)) best = { ...most, rank };
    }
    return best?.node ?? null;
  }

  /** Time at which more nodes may take the ticket than now; Infinity: never. */
  opensAt(entry: Entry, now: number): number {
    const { notBefore, slotClass, prefer, preferUntil, avoid, avoidUntil } = entry.ticket;
    if (notBefore > now) return notBefore;
    const avoids = avoid.length > 0 && now < avoidUntil ? avoidUntil : Infinity;
    if (prefer === null || preferUntil <= now) return avoids;
    const profiles = this.#profilesFor(entry);
    const source = this.#sourceOf(entry, profiles, this.#avoidedBy(entry, profiles, now));
    const waits = source !== null && this.#roster.freeForSources(source, slotClass) === 0;
    return waits ? Math.min(avoids, preferUntil) : avoids;
  }

  /** The node that has the source, if it accepts work and may run this ticket. */
  #sourceOf(
    { ticket: { prefer } }: Entry,
    profiles: readonly RankedProfile<Node>[],
    avoided: readonly string[],
  ): Node | null {
    return prefer === null || avoided.includes(prefer) ? null : this.#acceptingAmong(profiles, prefer);
  }

  /** The nodes that a ticket avoids, unless no other node could do its work. */
  #avoidedBy({ ticket }: Entry, profiles: readonly RankedProfile<Node>[], now: number): readonly string[] {
    const { avoid, avoidUntil } = ticket;
    if (avoid.length === 0 || now >= avoidUntil) return [];
    const avoided = avoid.filter((nodeId) => this.#acceptingAmong(profiles, nodeId) !== null);
    return avoided.length < profiles.reduce((sum, { nodes }) => sum + nodes.accepting.size, 0) ? avoided : [];
  }

  #acceptingAmong(profiles: readonly RankedProfile<Node>[], nodeId: string): Node | null {
    const node = this.#roster.get(nodeId);
    return node && profiles.some(({ nodes }) => nodes.accepting.has(node)) ? node : null;
  }

  #profilesFor({ suits, near, ticket: { requirements, steady } }: Entry): readonly RankedProfile<Node>[] {
    return this.#roster.profiles.ranked(suits, (profile) => rankOf(requirements, { near, steady }, profile));
  }
}
