// The profiles of the nodes of the last minutes. A fleet has tens of profiles.
import * as z from "zod";
import { Profile, profileKey } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";

/** A profile belongs to the fleet for this time after its last node has gone. */
const SEEN_MS = 10 * 60_000;
/** Maximum number of requirements whose ranks are cached: far more than a fleet has at a time. */
const MAX_RANKED = 10_000;

/** The nodes of a profile. */
export type ProfileNodes<Node> = {
  readonly key: string;
  readonly profile: Profile;
  connected: number;
  /** The nodes that accept work. */
  readonly accepting: Set<Node>;
  /** Time at which the last node went; ms since 1970. */
  seenAt: number;
  /** Nodes by their number of free slots, in the order in which they reached that number. */
  readonly byFree: Readonly<Record<SlotClass, Map<number, Set<Node>>>>;
};
export type RankedProfile<Node> = { readonly rank: number; readonly nodes: ProfileNodes<Node> };

/** A profile as the hub stores it, so that a restarted hub knows the fleet. */
export const StoredProfile = z.object({ profile: Profile, isConnected: z.boolean(), seenAt: z.number() });
export type StoredProfile = z.infer<typeof StoredProfile>;

export class NodeProfiles<Node> {
  readonly #profiles = new Map<string, ProfileNodes<Node>>();
  readonly #changed = new Set<ProfileNodes<Node>>();
  readonly #ranked = new Map<string, readonly RankedProfile<Node>[]>();

  /** Counts a node that has connected (1) or gone (-1). */
  connect(profile: Profile, sign: 1 | -1): ProfileNodes<Node> {
    const nodes = this.#get(profile);
    nodes.connected += sign;
    if (nodes.connected === (sign > 0 ? 1 : 0)) this.#changed.add(nodes);
    return nodes;
  }

  /** Adds a stored profile. Call it after the connected nodes are added. */
  restore({ profile, isConnected, seenAt }: StoredProfile): void {
    const nodes = this.#get(profile);
    nodes.seenAt = Math.max(nodes.seenAt, seenAt);
    // Only a change is worth a row: a hub often restarts with the same nodes.
    if (isConnected && nodes.connected > 0) this.#changed.delete(nodes);
  }

  /** The pools of these profiles. */
  pools(): Set<string> {
    return new Set([...this.#profiles.values()].map(({ profile }) => profile.pool));
  }

  /** The profiles of nodes that are connected, or were connected in the last minutes. */
  seen(now: number): Profile[] {
    return [...this.#profiles.values()].filter((nodes) => isSeen(nodes, now)).map(({ profile }) => profile);
  }

  /** The profiles that have a rank, best first. `key`: equal for equal ranks, which are cached. */
  ranked(key: string, rankOf: (profile: Profile) => number | null): readonly RankedProfile<Node>[] {
    const cached = this.#ranked.get(key);
    if (cached) return cached;
    const ranked = [...this.#profiles.values()].flatMap((nodes) => {
      const rank = rankOf(nodes.profile);
      return rank === null ? [] : [{ rank, nodes }];
    });
    ranked.sort((first, second) => first.rank - second.rank);
    if (this.#ranked.size >= MAX_RANKED) this.#ranked.clear();
    this.#ranked.set(key, ranked);
    return ranked;
  }

  /** The rows to store since the last call; null: to delete. Forgets profiles that were not seen for long. */
  takeChanges(now: number): (readonly [key: string, stored: StoredProfile | null])[] {
    const forgotten = [...this.#profiles.values()].filter((nodes) => !isSeen(nodes, now) && !this.#changed.has(nodes));
    for (const { key } of forgotten) this.#profiles.delete(key);
    if (forgotten.length > 0) this.#ranked.clear();
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const nodes of changed) if (nodes.connected === 0) nodes.seenAt = now;
    return [
      ...forgotten.map(({ key }) => [key, null] as const),
      ...changed.map(
        ({ key, profile, connected }) => [key, { profile, isConnected: connected > 0, seenAt: now }] as const,
      ),
    ];
  }

  #get(profile: Profile): ProfileNodes<Node> {
    const key = profileKey(profile);
    const known = this.#profiles.get(key);
    if (known) return known;
    const byFree = { inspect: new Map(), encode: new Map() };
    const nodes = { key, profile, connected: 0, accepting: new Set<Node>(), seenAt: 0, byFree };
    this.#profiles.set(key, nodes);
    this.#ranked.clear();
    return nodes;
  }
}

/** Returns the node with the most free slots of a class, except the nodes with these ids; null: none. */
export function mostFree<Node extends { readonly nodeId: string }>(
  { byFree }: ProfileNodes<Node>,
  slotClass: SlotClass,
  avoided: readonly string[],
): { readonly node: Node; readonly free: number } | null {
  for (const [free, nodes] of [...byFree[slotClass]].sort(([first], [second]) => second - first)) {
    for (const node of nodes) if (!avoided.includes(node.nodeId)) return { node, free };
  }
  return null;
}

const isSeen = ({ connected, seenAt }: ProfileNodes<unknown>, now: number): boolean =>
  connected > 0 || seenAt > now - SEEN_MS;
