// Chooses the node that should take a ticket. Caches the ranks of the kinds of nodes.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Kind } from "./nodes/node-profiles.ts";
import type { Roster } from "./nodes/roster.ts";
import { rankOf } from "./ranks.ts";
import type { Entry } from "./waiting/ticket-queue.ts";

type Ranked<Node extends ConnectedNode> = { readonly rank: number; readonly kind: Kind<Node> };

/**
 * Nodes by class, cached until something changes. For tickets without a source and without nodes to avoid: such tickets
 * differ only in their suitable kinds of nodes.
 */
export type FreeNodes<Node> = Record<SlotClass, Map<string, Node | null>>;
export const freeNodes = <Node>(): FreeNodes<Node> => ({ inspect: new Map(), encode: new Map() });

/** Maximum number of requirements whose ranks are cached: far more than a fleet has at a time. */
const MAX_RANKED = 10_000;
const NOBODY: readonly string[] = [];

export class Candidates<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  /** The kinds of nodes that may do some work, best first, by requirements and preferences. */
  readonly #ranked = new Map<string, readonly Ranked<Node>[]>();
  #version = -1;

  constructor(roster: Roster<Node>) {
    this.#roster = roster;
  }

  /**
   * Returns the node that has the source, if it has a free slot. Otherwise returns the node with the most free slots
   * among the best kinds. Null: no node that may take the ticket has a free slot.
   */
  nodeFor(entry: Entry, now: number, nodes: FreeNodes<Node>): Node | null {
    const { suits, ticket } = entry;
    if (ticket.prefer !== null || ticket.avoid.length > 0) return this.#nodeFor(entry, now);
    const known = nodes[ticket.slotClass].get(suits);
    if (known !== undefined) return known;
    const node = this.#nodeFor(entry, now);
    nodes[ticket.slotClass].set(suits, node);
    return node;
  }

  #nodeFor(entry: Entry, now: number): Node | null {
    const { slotClass, preferUntil } = entry.ticket;
    const kinds = this.#kindsFor(entry);
    const avoided = this.#avoidedBy(entry, kinds, now);
    const source = this.#sourceOf(entry, kinds, avoided);
    if (source && this.#roster.freeForSources(source, slotClass) > 0) return source;
    if (source && now < preferUntil) return null;
    let best: { readonly node: Node; readonly level: number; readonly rank: number } | null = null;
    for (const { rank, kind } of kinds) {
      if (best && rank > best.rank) break;
      const most = kind.mostFree(slotClass, avoided);
      if (most && (!best || most.level > best.level)) best = { ...most, rank };
    }
    return best?.node ?? null;
  }

  /** Time at which more nodes may take the ticket than now; Infinity: never. */
  opensAt(entry: Entry, now: number): number {
    const { notBefore, slotClass, prefer, preferUntil, avoid, avoidUntil } = entry.ticket;
    if (notBefore > now) return notBefore;
    const avoids = avoid.length > 0 && now < avoidUntil ? avoidUntil : Infinity;
    if (prefer === null || preferUntil <= now) return avoids;
    const kinds = this.#kindsFor(entry);
    const source = this.#sourceOf(entry, kinds, this.#avoidedBy(entry, kinds, now));
    const waits = source !== null && this.#roster.freeForSources(source, slotClass) === 0;
    return waits ? Math.min(avoids, preferUntil) : avoids;
  }

  /** The node that has the source, if it accepts work and may run this ticket. */
  #sourceOf({ ticket: { prefer } }: Entry, kinds: readonly Ranked<Node>[], avoided: readonly string[]): Node | null {
    if (prefer === null || avoided.includes(prefer)) return null;
    const node = this.#roster.accepter(prefer);
    if (!node) return null;
    return this.#isAmong(kinds, node) ? node : null;
  }

  #isAmong(kinds: readonly Ranked<Node>[], node: Node): boolean {
    const own = this.#roster.kinds.of(node);
    return kinds.some(({ kind }) => kind === own);
  }

  /** The nodes that a ticket avoids, unless no other node could do its work. */
  #avoidedBy({ ticket }: Entry, kinds: readonly Ranked<Node>[], now: number): readonly string[] {
    const { avoid, avoidUntil } = ticket;
    if (avoid.length === 0 || now >= avoidUntil) return NOBODY;
    const avoided = avoid.filter((nodeId) => {
      const node = this.#roster.accepter(nodeId);
      return node !== null && this.#isAmong(kinds, node);
    });
    return avoided.length < kinds.reduce((sum, { kind }) => sum + kind.accepting, 0) ? avoided : NOBODY;
  }

  #kindsFor({ suits, near, ticket: { requirements, steady } }: Entry): readonly Ranked<Node>[] {
    if (this.#version !== this.#roster.kinds.version) this.#ranked.clear();
    this.#version = this.#roster.kinds.version;
    const known = this.#ranked.get(suits);
    if (known) return known;
    const ranked = [...this.#roster.kinds.values()].flatMap((kind) => {
      const rank = rankOf(requirements, { near, steady }, kind.profile);
      return rank === null ? [] : [{ rank, kind }];
    });
    ranked.sort((one, other) => one.rank - other.rank);
    if (this.#ranked.size >= MAX_RANKED) this.#ranked.clear();
    this.#ranked.set(suits, ranked);
    return ranked;
  }
}
