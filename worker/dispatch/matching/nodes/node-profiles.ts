// The kinds of nodes: a kind for each profile of a node of the last minutes. A fleet has tens of kinds.
import { type Profile, profileKey } from "#shared/protocol/requirements.ts";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";

/** A profile belongs to the fleet for this time after its last node has gone. */
export const SEEN_MS = 10 * 60_000;
/** Nodes with more free slots than this are treated alike. */
const MOST_FREE = 64;

type Member = { readonly nodeId: string; readonly profile: Profile };

/** The nodes of a profile that accept work. */
export class Kind<Node extends Member> {
  readonly key: string;
  readonly profile: Profile;
  /** Number of connected nodes, and number of nodes that accept work. */
  connected = 0;
  accepting = 0;
  /** Time at which the last node of the kind went; ms since 1970. */
  seenAt = 0;
  /** Number of nodes with a free slot. */
  readonly nodesWithFree: Record<SlotClass, number> = { inspect: 0, encode: 0 };
  /** Nodes by their number of free slots, in the order in which they reached that number. */
  readonly #levels: Record<SlotClass, readonly Set<Node>[]> = { inspect: newLevels(), encode: newLevels() };

  constructor(key: string, profile: Profile) {
    this.key = key;
    this.profile = profile;
  }

  /** Adds a node to the nodes with so many free slots, or removes it from them. */
  level(slotClass: SlotClass, node: Node, free: number, isAdded: boolean): void {
    const level = this.#levels[slotClass][Math.min(free, MOST_FREE) - 1];
    if (!level) return;
    if (isAdded) level.add(node);
    else level.delete(node);
    this.nodesWithFree[slotClass] += isAdded ? 1 : -1;
  }

  /** The number of free slots of all nodes, with at most MOST_FREE slots of a node counted. */
  free(): SlotCounts {
    const count = (slotClass: SlotClass): number =>
      this.#levels[slotClass].reduce((sum, level, at) => sum + level.size * (at + 1), 0);
    return { inspect: count("inspect"), encode: count("encode") };
  }

  /** The node with the most free slots of a class, except the nodes with these ids; null: none. */
  mostFree(slotClass: SlotClass, avoided: readonly string[]): { readonly node: Node; readonly level: number } | null {
    if (this.nodesWithFree[slotClass] === 0) return null;
    for (let level = MOST_FREE; level > 0; level--) {
      for (const node of this.#levels[slotClass][level - 1] ?? []) {
        if (!avoided.includes(node.nodeId)) return { node, level };
      }
    }
    return null;
  }
}

/** The slots that an account uses: slots with a task of a class, and encode slots held for its inspections. */
export type Use = SlotClass | "held encode";

/** The slots of a pool's nodes that accept work: all slots, free slots, and slots in use by account. */
type Pool = {
  readonly slots: Record<SlotClass, number>;
  readonly free: Record<SlotClass, number>;
  readonly held: Record<Use, Map<string, number>>;
};

/** A kind as the hub stores it, so that a restarted hub knows the fleet. */
export type StoredKind = { readonly profile: Profile; readonly isConnected: boolean; readonly seenAt: number };

export class Kinds<Node extends Member> {
  readonly #kinds = new Map<string, Kind<Node>>();
  readonly #ofNodes = new WeakMap<Node, Kind<Node>>();
  readonly #pools = new Map<string, Pool>();
  readonly #changed = new Set<Kind<Node>>();
  /** Changes whenever a kind is added or removed. */
  version = 0;

  values(): Iterable<Kind<Node>> {
    return this.#kinds.values();
  }

  of(node: Node): Kind<Node> {
    const known = this.#ofNodes.get(node);
    if (known) return known;
    const kind = this.#get(node.profile);
    this.#ofNodes.set(node, kind);
    return kind;
  }

  pool(name: string): Pool {
    const known = this.#pools.get(name);
    if (known) return known;
    const none = (): Record<SlotClass, number> => ({ inspect: 0, encode: 0 });
    const held = { inspect: new Map(), encode: new Map(), "held encode": new Map() };
    const pool: Pool = { slots: none(), free: none(), held };
    this.#pools.set(name, pool);
    return pool;
  }

  /** Adds slots to the use of an account; a negative count removes slots. */
  addHeld(pool: string, use: Use, accountId: string, count: number): void {
    const ofClass = this.pool(pool).held[use];
    const held = (ofClass.get(accountId) ?? 0) + count;
    if (held === 0) ofClass.delete(accountId);
    else ofClass.set(accountId, held);
  }

  pools(): Iterable<string> {
    return this.#pools.keys();
  }

  /** Counts a node that has connected (1) or gone (-1). */
  connect(node: Node, sign: 1 | -1): void {
    const kind = this.of(node);
    kind.connected += sign;
    if (kind.connected === (sign > 0 ? 1 : 0)) this.#changed.add(kind);
  }

  /** Adds a stored kind. Call it after the connected nodes are added. */
  restore({ profile, isConnected, seenAt }: StoredKind): void {
    const kind = this.#get(profile);
    kind.seenAt = Math.max(kind.seenAt, seenAt);
    // Only a change is worth a row: a hub often restarts with the same nodes.
    if (isConnected && kind.connected > 0) this.#changed.delete(kind);
  }

  /** The profiles of nodes that are connected, or were connected in the last minutes. */
  seen(now: number): Profile[] {
    const seen = [...this.#kinds.values()].filter((kind) => isSeen(kind, now));
    return seen.map(({ profile }) => profile);
  }

  /** The kinds that have changed since the last call, to be stored. */
  takeChanges(now: number): (readonly [key: string, kind: StoredKind | null])[] {
    const changes = [...this.#changed].map((kind): readonly [string, StoredKind] => {
      if (kind.connected === 0) kind.seenAt = now;
      return [kind.key, { profile: kind.profile, isConnected: kind.connected > 0, seenAt: now }];
    });
    this.#changed.clear();
    return changes;
  }

  /** Forgets the kinds that were not seen for long. Returns their keys. */
  forget(now: number): string[] {
    const old = [...this.#kinds.values()].filter((kind) => !isSeen(kind, now) && !this.#changed.has(kind));
    for (const { key } of old) this.#kinds.delete(key);
    if (old.length > 0) this.version += 1;
    return old.map(({ key }) => key);
  }

  #get(profile: Profile): Kind<Node> {
    const key = profileKey(profile);
    const known = this.#kinds.get(key);
    if (known) return known;
    const kind = new Kind<Node>(key, profile);
    this.#kinds.set(key, kind);
    this.version += 1;
    return kind;
  }
}

const isSeen = ({ connected, seenAt }: Kind<Member>, now: number): boolean => connected > 0 || seenAt > now - SEEN_MS;

const newLevels = <Node>(): readonly Set<Node>[] => Array.from({ length: MOST_FREE }, () => new Set<Node>());
