// The order in which tickets that require the same are served: a higher band of priority first, in each band the
// account that has used least, and of an account the oldest job.
import type { Requirements } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Preferences } from "../ranks.ts";
import type { Account } from "./accounts.ts";
import { Heap } from "./heap.ts";
import type { Ticket } from "./tickets.ts";

export const BANDS = 5;
/** The band of priorities from 10 on: above the usual one. */
export const ABOVE_USUAL = 3;

/** The band of a priority: -50…-31, -30…-11, -10…9, 10…29, 30…50. */
export const bandOf = (priority: number): number => Math.max(0, Math.min(BANDS - 1, Math.floor((priority + 50) / 20)));

/** A ticket that waits. */
export type Entry = {
  readonly key: string;
  readonly account: Account;
  ticket: Ticket;
  band: number;
  line: Line | null;
  /** The region near its source, once it is known. */
  near: string | null;
  /** Whether it may still wait for its preferred node. */
  mayHold: boolean;
  /** How many nodes in a row got none of its tasks. */
  emptyClaims: number;
  /** When more nodes may take it, and when it rises by a band; Infinity: never. */
  opensAt: number;
  risesAt: number;
};

/** The tickets of one account in one band of a group. */
export type Line = {
  readonly group: Group;
  readonly band: number;
  readonly account: Account;
  readonly entries: Heap<Entry>;
};

/** Tickets that the same nodes may take. */
export class Group {
  readonly key: string;
  readonly slotClass: SlotClass;
  readonly requirements: Requirements;
  readonly preferences: Preferences;
  /** Nodes that get its tickets only if no others are connected. */
  readonly avoid: readonly string[];
  /** The only node that may take them. */
  readonly nodeId: string | null;
  /** By band: the lines of accounts that may run more tasks. */
  readonly #bands: readonly Heap<Line>[] = Array.from({ length: BANDS }, () => new Heap<Line>(isLineBefore));
  /** The same lines, by how long they have waited. */
  readonly #byAge = new Heap<Line>(isLineOlder);
  readonly #lines = new Map<string, Line>();

  constructor(of: Pick<Group, "key" | "slotClass" | "requirements" | "preferences" | "avoid" | "nodeId">) {
    this.key = of.key;
    this.slotClass = of.slotClass;
    this.requirements = of.requirements;
    this.preferences = of.preferences;
    this.avoid = of.avoid;
    this.nodeId = of.nodeId;
  }

  /** Whether none of its accounts may run more tasks. */
  get isParked(): boolean {
    return this.nodeId === null && this.#byAge.size === 0;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Adds a ticket, or moves it after its age has changed; returns its line. */
  add(entry: Entry, isParked: boolean): Line {
    const id = `${entry.band}:${entry.account.id}`;
    const { band, account } = entry;
    const line = this.#lines.get(id) ?? { group: this, band, account, entries: new Heap<Entry>(isEntryBefore) };
    line.entries.place(entry);
    this.#lines.set(id, line);
    this.park(line, isParked);
    return line;
  }

  /** Removes a ticket; true: its line is gone. */
  remove(entry: Entry, line: Line): boolean {
    line.entries.delete(entry);
    if (line.entries.size > 0) {
      this.move(line);
      return false;
    }
    this.#lines.delete(`${line.band}:${line.account.id}`);
    this.park(line, true);
    return true;
  }

  /** An account may run no more tasks, or may again. */
  park(line: Line, isParked: boolean): void {
    for (const heap of [this.#bands[line.band], this.#byAge]) {
      if (isParked) heap?.delete(line);
      else heap?.place(line);
    }
  }

  /** The order of a line may have changed. */
  move(line: Line): void {
    if (this.#byAge.has(line)) this.park(line, false);
  }

  /** The line that has waited longest of those that are accepted, whatever its turn. */
  oldest(accepts: (line: Line) => boolean): Line | null {
    for (const line of this.#byAge.ordered()) if (accepts(line)) return line;
    return null;
  }

  /** The first line in turn that is accepted. */
  first(accepts: (line: Line) => boolean): Line | null {
    // Few accounts wait for the same node: their lines are not kept in order.
    if (this.nodeId !== null) {
      const lines = [...this.#lines.values()].filter(accepts);
      return lines.reduce<Line | null>((best, line) => (best && !isLineBefore(line, best) ? best : line), null);
    }
    for (let band = BANDS - 1; band >= 0; band--) {
      for (const line of this.#bands[band]?.ordered() ?? []) if (accepts(line)) return line;
    }
    return null;
  }
}

/** Whether a line's turn comes before that of another, in whatever group. */
export function isLineBefore(one: Line, other: Line): boolean {
  if (one.band !== other.band) return one.band > other.band;
  // Also of inspections: they begin what will be encoded.
  const used = one.account.used.encode - other.account.used.encode;
  if (used !== 0) return used < 0;
  if (one.account !== other.account) return one.account.turn < other.account.turn;
  const [oldest, otherOldest] = [one.entries.peek(), other.entries.peek()];
  return oldest !== null && otherOldest !== null && isEntryBefore(oldest, otherOldest);
}

/** Since when a line has waited: since its account was served last, or since its first ticket waits. */
export const waitsSince = ({ account, entries }: Line): number =>
  Math.max(account.servedAt, entries.peek()?.ticket.waitingSince ?? Infinity);

const isLineOlder = (one: Line, other: Line): boolean => waitsSince(one) < waitsSince(other);

const isEntryBefore = ({ ticket: one }: Entry, { ticket: other }: Entry): boolean =>
  one.since < other.since || (one.since === other.since && one.jobId < other.jobId);
