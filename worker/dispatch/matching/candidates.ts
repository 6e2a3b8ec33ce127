// The nodes that may take the tickets of a group, and which of them should. Caches how well each kind of node suits.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Kind } from "./nodes/kinds.ts";
import type { Roster } from "./nodes/roster.ts";
import { rankOf } from "./ranks.ts";
import type { Group } from "./waiting/lines.ts";
import type { Ticket } from "./waiting/tickets.ts";

/** A group with a free slot for its tickets, and the nodes that they avoid. */
export type Open = { readonly group: Group; readonly avoided: readonly string[] };

type Ranked<Node extends ConnectedNode> = { readonly rank: number; readonly kind: Kind<Node> };

/** Requirements whose ranks are remembered: far more than a fleet has at a time. */
const MAX_RANKED = 10_000;

export class Candidates<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  /** By requirements and preferences: the kinds of nodes that may do such work, the best first. */
  readonly #ranked = new Map<string, readonly Ranked<Node>[]>();
  #version = -1;

  constructor(roster: Roster<Node>) {
    this.#roster = roster;
  }

  /** Whether a node may take the tickets of a group when it has a free slot. */
  fits(group: Group, node: Node): boolean {
    const kind = this.#roster.kinds.of(node);
    return group.nodeId !== null || this.#kindsOf(group).some((ranked) => ranked.kind === kind);
  }

  /** The group, if a node has a free slot for it now. */
  openOf(group: Group, slotClass: SlotClass): Open | null {
    if (group.nodeId !== null) return { group, avoided: [] };
    const avoided = this.#avoidedOf(group);
    const isFree = this.#kindsOf(group).some(({ kind }) => hasFree(kind, slotClass, avoided));
    return isFree ? { group, avoided } : null;
  }

  /** The node that has the source, if it has a free slot; else of the best kinds the one with the most free slots. */
  nodeFor({ group, avoided }: Open, { prefer, slotClass }: Ticket): Node | null {
    if (group.nodeId !== null) return this.#roster.accepter(group.nodeId);
    const kinds = this.#kindsOf(group);
    const preferred = prefer === null || avoided.includes(prefer) ? null : this.#roster.accepter(prefer);
    if (preferred && this.#roster.freeForSources(preferred, slotClass) > 0) {
      const kind = this.#roster.kinds.of(preferred);
      if (kinds.some((ranked) => ranked.kind === kind)) return preferred;
    }
    let best: { readonly node: Node; readonly level: number; readonly rank: number } | null = null;
    for (const { rank, kind } of kinds) {
      if (best && rank > best.rank) break;
      const most = kind.mostFree(slotClass, avoided);
      if (most && (!best || most.level > best.level)) best = { ...most, rank };
    }
    return best?.node ?? null;
  }

  /** The nodes that a group avoids, unless no other node could do its work. */
  #avoidedOf(group: Group): readonly string[] {
    if (group.avoid.length === 0) return [];
    const kinds = this.#kindsOf(group);
    const fits = new Set(kinds.map(({ kind }) => kind.key));
    const avoided = group.avoid.filter((nodeId) => {
      const node = this.#roster.accepter(nodeId);
      return node !== null && fits.has(this.#roster.kinds.of(node).key);
    });
    return avoided.length < kinds.reduce((sum, { kind }) => sum + kind.accepting, 0) ? avoided : [];
  }

  #kindsOf({ requirements, preferences, key }: Group): readonly Ranked<Node>[] {
    if (this.#version !== this.#roster.kinds.version) this.#ranked.clear();
    this.#version = this.#roster.kinds.version;
    const known = this.#ranked.get(key);
    if (known) return known;
    const ranked = [...this.#roster.kinds.values()].flatMap((kind) => {
      const rank = rankOf(requirements, preferences, kind.profile);
      return rank === null ? [] : [{ rank, kind }];
    });
    ranked.sort((one, other) => one.rank - other.rank);
    if (this.#ranked.size >= MAX_RANKED) this.#ranked.clear();
    this.#ranked.set(key, ranked);
    return ranked;
  }
}

function hasFree<Node extends ConnectedNode>(
  kind: Kind<Node>,
  slotClass: SlotClass,
  avoided: readonly string[],
): boolean {
  const free = kind.nodesWithFree[slotClass];
  return free > avoided.length || (free > 0 && kind.mostFree(slotClass, avoided) !== null);
}
