// The tickets that wait: by key, by job, and by the node that has their source. Knows which of them are on disk.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Entry } from "./lines.ts";
import { isStale, type Ticket } from "./tickets.ts";

export class TicketIndex {
  /** In the order in which they were last advertised. */
  readonly #entries = new Map<string, Entry>();
  /** The keys of a job's tickets of one class. */
  readonly #ofJobs: Record<SlotClass, Map<string, Set<string>>> = { inspect: new Map(), encode: new Map() };
  /** Tickets by the node that they prefer. */
  readonly #preferring = new Map<string, Set<Entry>>();
  readonly #stored = new Set<string>();
  readonly #changed = new Set<string>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | null {
    return this.#entries.get(key) ?? null;
  }

  values(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The tickets of a job's class. */
  ofJob(jobId: string, slotClass: SlotClass): Entry[] {
    return [...(this.#ofJobs[slotClass].get(jobId) ?? [])].flatMap((key) => this.get(key) ?? []);
  }

  /** The tickets that prefer a node. */
  preferring(nodeId: string): Entry[] {
    return [...(this.#preferring.get(nodeId) ?? [])];
  }

  /** Those that were not advertised again for too long. */
  *stale(now: number): Generator<Entry> {
    for (const entry of this.#entries.values()) {
      if (!isStale(entry.ticket, now)) return;
      yield entry;
    }
  }

  add(entry: Entry): void {
    const { key, ticket } = entry;
    this.#entries.set(key, entry);
    this.#changed.add(key);
    const ofJob = this.#ofJobs[ticket.slotClass].get(ticket.jobId) ?? new Set();
    this.#ofJobs[ticket.slotClass].set(ticket.jobId, ofJob.add(key));
    if (ticket.prefer === null) return;
    const preferring = this.#preferring.get(ticket.prefer) ?? new Set();
    this.#preferring.set(ticket.prefer, preferring.add(entry));
  }

  delete(entry: Entry): void {
    const { key, ticket } = entry;
    this.#entries.delete(key);
    this.#changed.add(key);
    const ofJob = this.#ofJobs[ticket.slotClass].get(ticket.jobId);
    ofJob?.delete(key);
    if (ofJob?.size === 0) this.#ofJobs[ticket.slotClass].delete(ticket.jobId);
    const preferring = ticket.prefer === null ? undefined : this.#preferring.get(ticket.prefer);
    preferring?.delete(entry);
    if (ticket.prefer !== null && preferring?.size === 0) this.#preferring.delete(ticket.prefer);
  }

  /** A ticket was read from disk. */
  isOnDisk(key: string): void {
    this.#stored.add(key);
    this.#changed.delete(key);
  }

  /**
   * The tickets to store since the last call; null: to delete. Each is stored once: as a note to call its job,
   * which knows how many tasks it has.
   */
  takeChanges(): (readonly [key: string, ticket: Ticket | null])[] {
    const changes = [...this.#changed].map((key) => [key, this.get(key)?.ticket ?? null] as const);
    this.#changed.clear();
    const unsaved = changes.filter(([key, ticket]) => (ticket === null) === this.#stored.has(key));
    for (const [key, ticket] of unsaved) {
      if (ticket) this.#stored.add(key);
      else this.#stored.delete(key);
    }
    return unsaved;
  }
}
