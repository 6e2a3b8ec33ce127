// In which group each ticket waits: with those that the same nodes may take, or with those that wait for one node.
import { signatureOf } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "../nodes/connected-node.ts";
import type { Roster } from "../nodes/roster.ts";
import { rankOf } from "../ranks.ts";
import type { Account } from "./accounts.ts";
import { type Entry, Group, type Line } from "./lines.ts";
import type { Ticket } from "./tickets.ts";

const byClass = <Value>(make: () => Value): Record<SlotClass, Value> => ({ inspect: make(), encode: make() });

export class Groups<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #groups: Record<SlotClass, Map<string, Group>> = byClass(() => new Map());
  /** The groups of tickets that wait for one node, by its id. */
  readonly #held: Record<SlotClass, Map<string, Group>> = byClass(() => new Map());
  /** The nodes among them that have a free slot now. */
  readonly #freed: Record<SlotClass, Set<string>> = byClass(() => new Set());
  readonly #lines = new Map<Account, Set<Line>>();

  constructor(roster: Roster<Node>) {
    this.#roster = roster;
  }

  /** The groups for any node. */
  forAny(slotClass: SlotClass): Iterable<Group> {
    return this.#groups[slotClass].values();
  }

  /** The group for one node; null: no ticket waits for it. */
  heldFor(nodeId: string, slotClass: SlotClass): Group | null {
    return this.#held[slotClass].get(nodeId) ?? null;
  }

  /** The nodes with a free slot for which tickets wait. */
  freed(slotClass: SlotClass): ReadonlySet<string> {
    return this.#freed[slotClass];
  }

  /** All tickets of nodes with a free slot were looked at. */
  clearFreed(slotClass: SlotClass): void {
    this.#freed[slotClass].clear();
  }

  /** A node may have a free slot now, or have one no more. */
  nodeChanged(nodeId: string, slotClass: SlotClass): void {
    const node = this.#roster.accepter(nodeId);
    const isFree = node !== null && this.#roster.freeForSources(node, slotClass) > 0;
    if (isFree && this.#held[slotClass].has(nodeId)) this.#freed[slotClass].add(nodeId);
    else this.#freed[slotClass].delete(nodeId);
  }

  /** What an account has used has changed, or whether it may run more tasks. */
  accountChanged(account: Account): void {
    const isParked = this.#isParked(account);
    for (const line of this.#lines.get(account) ?? []) line.group.park(line, isParked);
  }

  /** Puts a ticket, whose band is set, into its group. */
  join(entry: Entry, now: number): Group {
    const group = this.#groupOf(entry, now);
    const line = group.add(entry, this.#isParked(entry.account));
    entry.line = line;
    if (group.nodeId !== null) return group;
    const lines = this.#lines.get(entry.account) ?? new Set();
    this.#lines.set(entry.account, lines.add(line));
    return group;
  }

  /** Takes a ticket out of its group, if it is in one. */
  leave(entry: Entry): void {
    const { line } = entry;
    if (!line) return;
    entry.line = null;
    const { group, account } = line;
    if (!group.remove(entry, line)) return;
    const lines = this.#lines.get(account);
    lines?.delete(line);
    if (lines?.size === 0) this.#lines.delete(account);
    if (!group.isEmpty) return;
    if (group.nodeId === null) this.#groups[group.slotClass].delete(group.key);
    else {
      this.#held[group.slotClass].delete(group.nodeId);
      this.#freed[group.slotClass].delete(group.nodeId);
    }
  }

  #isParked({ id, maxRunning }: Account): boolean {
    return maxRunning !== null && this.#roster.tasksOf(id) >= maxRunning;
  }

  #groupOf(entry: Entry, now: number): Group {
    const { ticket } = entry;
    const { slotClass, requirements, prefer, preferUntil, steady } = ticket;
    const avoid = now < ticket.avoidUntil ? ticket.avoid.toSorted() : [];
    const preferred = prefer === null || avoid.includes(prefer) ? null : this.#roster.accepter(prefer);
    entry.near = preferred?.profile.region ?? entry.near;
    const preferences = { near: entry.near, steady };
    const mayWait = entry.mayHold && now < preferUntil;
    if (preferred && mayWait && this.#roster.freeOf(preferred, slotClass) === 0) {
      if (rankOf(requirements, preferences, preferred.profile) !== null) {
        // The slot may be held for it.
        if (this.#roster.freeForSources(preferred, slotClass) > 0) this.#freed[slotClass].add(preferred.nodeId);
        return this.#heldGroup(preferred.nodeId, ticket);
      }
    }
    const key = [signatureOf(requirements), preferences.near ?? "", steady ? "steady" : "", ...avoid].join("\n");
    const known = this.#groups[slotClass].get(key);
    if (known) return known;
    const group = new Group({ key, slotClass, requirements, preferences, avoid, nodeId: null });
    this.#groups[slotClass].set(key, group);
    return group;
  }

  /** Its tickets differ in what they require, all of which the node has. */
  #heldGroup(nodeId: string, { slotClass, requirements }: Ticket): Group {
    const known = this.#held[slotClass].get(nodeId);
    if (known) return known;
    const preferences = { near: null, steady: false };
    const group = new Group({ key: nodeId, slotClass, requirements, preferences, avoid: [], nodeId });
    this.#held[slotClass].set(nodeId, group);
    return group;
  }
}

/** When a ticket opens to more nodes than now. */
export function opensAt({ ticket }: Entry, group: Group | null, now: number): number {
  if (!group) return ticket.notBefore;
  const times = [group.nodeId === null ? 0 : ticket.preferUntil, ticket.avoid.length === 0 ? 0 : ticket.avoidUntil];
  return Math.min(...times.filter((time) => time > now));
}
