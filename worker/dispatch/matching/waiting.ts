// The tickets that wait, each in the group of those that the same nodes may take. No method looks at all tickets,
// except `values`.
import { signatureOf } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { Account, Accounts } from "./accounts.ts";
import { Heap } from "./heap.ts";
import { BANDS, bandOf, type Entry, Group, type Line } from "./lines.ts";
import { rankOf } from "./ranks.ts";
import type { ConnectedNode, Roster } from "./roster.ts";
import { isStale, type Ticket, ticketKey } from "./tickets.ts";

/** A ticket rises by one band of priority after waiting this long, so that nothing waits for ever. */
export const RISE_EVERY_MS = 15 * 60_000;

/** A node may get nothing because it works on the same tasks already; the next one shows that there are none. */
const MAX_EMPTY_CLAIMS = 2;

const byClass = <Value>(make: () => Value): Record<SlotClass, Value> => ({ inspect: make(), encode: make() });

export class Waiting<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #accounts: Accounts;
  /** In the order in which they were last advertised. */
  readonly #entries = new Map<string, Entry>();
  readonly #groups: Record<SlotClass, Map<string, Group>> = byClass(() => new Map());
  /** The groups of tickets that wait for one node, by its id. */
  readonly #held: Record<SlotClass, Map<string, Group>> = byClass(() => new Map());
  /** The nodes among them that have a free slot now. */
  readonly #freed: Record<SlotClass, Set<string>> = byClass(() => new Set());
  readonly #accepting = new Set<string>();
  /** The keys of a job's tickets of one class. */
  readonly #ofJobs: Record<SlotClass, Map<string, Set<string>>> = byClass(() => new Map());
  /** Tickets by the node that they prefer. */
  readonly #preferring = new Map<string, Set<Entry>>();
  readonly #lines = new Map<Account, Set<Line>>();
  readonly #opening: Record<SlotClass, Heap<Entry>> = byClass(
    () => new Heap((one, other) => one.opensAt < other.opensAt),
  );
  readonly #rising = new Heap<Entry>((one, other) => one.risesAt < other.risesAt);
  readonly #stored = new Set<string>();
  readonly #changed = new Set<string>();

  constructor(roster: Roster<Node>, accounts: Accounts) {
    this.#roster = roster;
    this.#accounts = accounts;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Ticket | null {
    return this.#entries.get(key)?.ticket ?? null;
  }

  *values(): Generator<Ticket> {
    for (const { ticket } of this.#entries.values()) yield ticket;
  }

  /** The groups whose tickets may be taken: those for any node, and those for a node that has a free slot now. */
  *groups(slotClass: SlotClass): Generator<Group> {
    yield* this.#groups[slotClass].values();
    for (const nodeId of this.#freed[slotClass]) {
      const group = this.#held[slotClass].get(nodeId);
      if (group) yield group;
    }
  }

  /** The groups whose tickets a node may take when it has a free slot, if it has what they require. */
  *groupsFor(nodeId: string, slotClass: SlotClass): Generator<Group> {
    yield* this.#groups[slotClass].values();
    const held = this.#held[slotClass].get(nodeId);
    if (held) yield held;
  }

  /** Adds a ticket of the hub's storage. */
  restore(ticket: Ticket, now: number): void {
    this.put({ ...ticket, isCountOld: true }, now);
    this.#stored.add(ticketKey(ticket));
    this.#changed.delete(ticketKey(ticket));
  }

  /** A job advertises: replaces its ticket of the same class and requirements; a count of zero removes it. */
  put(ticket: Ticket, now: number): void {
    const key = ticketKey(ticket);
    const before = this.#entries.get(key);
    this.#changed.add(key);
    if (before) this.#remove(before);
    if (ticket.count > 0)
      this.#insert(key, { ...ticket, waitingSince: before?.ticket.waitingSince || ticket.waitingSince || now }, now);
  }

  /** Removes the tickets of a job's class except these: it no longer requires that. */
  keepOnly(jobId: string, slotClass: SlotClass, keys: ReadonlySet<string>): void {
    for (const key of [...(this.#ofJobs[slotClass].get(jobId) ?? [])]) {
      const entry = keys.has(key) ? null : this.#entries.get(key);
      if (entry) this.#remove(entry);
    }
  }

  /** Takes some of a ticket's tasks. */
  take(ticket: Ticket, count: number): void {
    const entry = this.#entries.get(ticketKey(ticket));
    if (!entry) return;
    const rest = entry.ticket.count - count;
    // A job of which the count is not known is called until it has nothing left.
    if (rest > 0 || ticket.isCountOld) entry.ticket = { ...entry.ticket, count: Math.max(1, rest) };
    else this.#remove(entry);
  }

  /** Returns tasks that were taken, to wait until `notBefore`, unless the job has advertised again meanwhile. */
  giveBack(ticket: Ticket, count: number, notBefore: number, now: number): void {
    const rest = this.get(ticketKey(ticket));
    if (rest && rest.advertisedAt !== ticket.advertisedAt) return;
    this.put({ ...ticket, count: (rest?.count ?? 0) + count, notBefore }, now);
  }

  /** A job was called for tasks. One that has none, for several nodes, is called no more until it advertises again. */
  claimed(ticket: Ticket, count: number): void {
    const entry = this.#entries.get(ticketKey(ticket));
    if (entry?.ticket.advertisedAt !== ticket.advertisedAt) return;
    entry.emptyClaims = count > 0 ? 0 : entry.emptyClaims + 1;
    if (entry.emptyClaims >= MAX_EMPTY_CLAIMS) this.#remove(entry);
  }

  /** Moves the tickets for which time has changed something. */
  advance(now: number): void {
    for (const slotClass of SLOT_CLASSES) {
      const opening = this.#opening[slotClass];
      for (let entry = opening.peek(); entry && entry.opensAt <= now; entry = opening.peek()) this.#place(entry, now);
    }
    for (let entry = this.#rising.peek(); entry && entry.risesAt <= now; entry = this.#rising.peek()) {
      this.#place(entry, now);
    }
  }

  /** A node was changed, added or removed. */
  nodeChanged(nodeId: string, now: number): void {
    const node = this.#roster.accepter(nodeId);
    for (const slotClass of SLOT_CLASSES) {
      const isFree = node !== null && this.#roster.freeForSources(node, slotClass) > 0;
      if (isFree && this.#held[slotClass].has(nodeId)) this.#freed[slotClass].add(nodeId);
      else this.#freed[slotClass].delete(nodeId);
    }
    if (this.#accepting.has(nodeId) === (node !== null)) return;
    if (node) this.#accepting.add(nodeId);
    else this.#accepting.delete(nodeId);
    // What prefers it waits for it, as long as it accepts work.
    for (const entry of this.#preferring.get(nodeId) ?? []) this.#place(entry, now);
  }

  /** What still waits for nodes that have a free slot may not use it: it waits for any node. */
  releaseHeld(now: number): void {
    for (const slotClass of SLOT_CLASSES) {
      for (const nodeId of this.#freed[slotClass]) {
        for (const entry of [...(this.#preferring.get(nodeId) ?? [])]) {
          if (entry.ticket.slotClass !== slotClass || entry.line?.group.nodeId !== nodeId) continue;
          entry.mayHold = false;
          this.#place(entry, now);
        }
      }
      this.#freed[slotClass].clear();
    }
  }

  /** What an account has used has changed, or whether it may run more tasks. */
  accountChanged(account: Account): void {
    const isParked = this.#isParked(account);
    for (const line of this.#lines.get(account) ?? []) line.group.park(line, isParked);
  }

  /** When the first ticket of a class opens to more nodes; Infinity: never. */
  opensAt(slotClass: SlotClass): number {
    return this.#opening[slotClass].peek()?.opensAt ?? Infinity;
  }

  /** Removes tickets that were not advertised again. */
  removeStale(now: number): void {
    for (const entry of this.#entries.values()) {
      if (!isStale(entry.ticket, now)) break;
      this.#remove(entry);
    }
  }

  /**
   * The tickets to store since the last call; null: to delete. Each is stored once: as a note to call its job,
   * which knows how many tasks it has.
   */
  takeChanges(): (readonly [key: string, ticket: Ticket | null])[] {
    const changes = [...this.#changed].map((key) => [key, this.get(key)] as const);
    this.#changed.clear();
    const unsaved = changes.filter(([key, ticket]) => (ticket === null) === this.#stored.has(key));
    for (const [key, ticket] of unsaved) {
      if (ticket) this.#stored.add(key);
      else this.#stored.delete(key);
    }
    return unsaved;
  }

  #insert(key: string, ticket: Ticket, now: number): void {
    const account = this.#accounts.get(ticket.accountId);
    account.weight = ticket.weight;
    account.maxRunning = ticket.maxRunning;
    this.#accounts.count(account, ticket.slotClass, 1);
    const ofJob = this.#ofJobs[ticket.slotClass].get(ticket.jobId) ?? new Set();
    this.#ofJobs[ticket.slotClass].set(ticket.jobId, ofJob.add(key));
    const times = { opensAt: Infinity, risesAt: Infinity };
    const place = { band: 0, line: null, near: null, mayHold: true };
    const entry: Entry = { key, account, ticket, ...place, emptyClaims: 0, ...times };
    this.#entries.set(key, entry);
    if (ticket.prefer !== null) {
      const preferring = this.#preferring.get(ticket.prefer) ?? new Set();
      this.#preferring.set(ticket.prefer, preferring.add(entry));
    }
    this.#place(entry, now);
    this.accountChanged(account);
  }

  #remove(entry: Entry): void {
    const { key, account, ticket } = entry;
    this.#entries.delete(key);
    this.#changed.add(key);
    this.#leaveLine(entry);
    this.#opening[ticket.slotClass].delete(entry);
    this.#rising.delete(entry);
    this.#accounts.count(account, ticket.slotClass, -1);
    const ofJob = this.#ofJobs[ticket.slotClass].get(ticket.jobId);
    ofJob?.delete(key);
    if (ofJob?.size === 0) this.#ofJobs[ticket.slotClass].delete(ticket.jobId);
    const preferring = ticket.prefer === null ? undefined : this.#preferring.get(ticket.prefer);
    preferring?.delete(entry);
    if (ticket.prefer !== null && preferring?.size === 0) this.#preferring.delete(ticket.prefer);
  }

  /** Puts a ticket where it belongs now. */
  #place(entry: Entry, now: number): void {
    this.#leaveLine(entry);
    const { ticket } = entry;
    const { slotClass } = ticket;
    const risen = Math.floor(Math.max(0, now - ticket.waitingSince) / RISE_EVERY_MS);
    entry.band = Math.min(BANDS - 1, bandOf(ticket.priority) + risen);
    entry.risesAt = entry.band === BANDS - 1 ? Infinity : ticket.waitingSince + (risen + 1) * RISE_EVERY_MS;
    if (entry.risesAt === Infinity) this.#rising.delete(entry);
    else this.#rising.place(entry);
    const group = ticket.notBefore > now ? null : this.#groupFor(entry, now);
    if (group) this.#joinLine(entry, group);
    entry.opensAt = opensAt(entry, group, now);
    if (entry.opensAt === Infinity) this.#opening[slotClass].delete(entry);
    else this.#opening[slotClass].place(entry);
  }

  #joinLine(entry: Entry, group: Group): void {
    const line = group.add(entry, this.#isParked(entry.account));
    entry.line = line;
    if (group.nodeId !== null) return;
    const lines = this.#lines.get(entry.account) ?? new Set();
    this.#lines.set(entry.account, lines.add(line));
  }

  #leaveLine(entry: Entry): void {
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

  #groupFor(entry: Entry, now: number): Group {
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
function opensAt({ ticket }: Entry, group: Group | null, now: number): number {
  if (!group) return ticket.notBefore;
  const times = [group.nodeId === null ? 0 : ticket.preferUntil, ticket.avoid.length === 0 ? 0 : ticket.avoidUntil];
  return Math.min(...times.filter((time) => time > now));
}
