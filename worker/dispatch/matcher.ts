// Matches the jobs' tickets with the free slots of nodes.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { type Advertised, type SentOffer, TicketOffer } from "../rpc/hub.ts";
import type { CloseReason } from "./admission.ts";
import type { JobCalls } from "./job-calls.ts";
import { choose, type Match } from "./matching/choose.ts";
import { holding } from "./matching/roster.ts";
import { TicketQueue } from "./matching/ticket-queue.ts";
import { isStale, loadTickets, saveTickets } from "./matching/tickets.ts";
import type { NodeConnections, SocketNode } from "./node-connections.ts";

/** How long a ticket waits after its job was not reachable. */
const CLAIM_RETRY_MS = 1000;
/** The minimum interval between sweeps, which look at all nodes and tickets. */
const SWEEP_EVERY_MS = 15_000;
/** The alarm rings at multiples of this, so that it rings once for tickets that open at about the same time. */
const ALARM_STEP_MS = 250;
/** WebSocket close code (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;

type MatcherDeps = {
  readonly nodes: NodeConnections;
  readonly jobs: JobCalls;
  readonly disconnect: (socket: WebSocket, reason: CloseReason) => Promise<void>;
};

export class Matcher {
  readonly #storage: DurableObjectStorage;
  readonly #deps: MatcherDeps;
  readonly #queue: TicketQueue;
  #sweptAt = 0;
  #alarmAt = 0;

  /** Starts with the tickets on disk. */
  constructor(storage: DurableObjectStorage, deps: MatcherDeps) {
    this.#storage = storage;
    this.#deps = deps;
    this.#queue = new TicketQueue(loadTickets(storage.kv));
  }

  /** The number of tickets. */
  get waiting(): number {
    return this.#queue.size;
  }

  hasWaiting(slotClass: SlotClass): boolean {
    return this.#queue.hasWaiting(slotClass);
  }

  async advertise(offers: SentOffer | SentOffer[]): Promise<Advertised> {
    // Jobs of the previous release send one offer.
    for (const offer of [offers].flat()) {
      this.#queue.put({ ...TicketOffer.parse(offer), advertisedAt: Date.now(), notBefore: 0 });
    }
    await this.match();
    return { waitingFor: null };
  }

  /** Handles the alarm. */
  async ring(): Promise<void> {
    this.#alarmAt = 0;
    await this.match();
  }

  /** Matches tickets with free slots until none fits. Both are taken before the job is called. */
  async match(): Promise<void> {
    const now = Date.now();
    const running = this.#sweep(now);
    for (;;) {
      const { match, lookAt } = choose(this.#deps.nodes.roster, this.#queue, now);
      if (lookAt !== null) this.#wakeAt(Math.min(lookAt, now + SWEEP_EVERY_MS));
      if (!match) break;
      this.#queue.take(match.ticket, match.slots);
      this.#addFree(match, -match.slots);
      running.push(this.#claim(match));
    }
    // In the same turn in which they were advertised: tickets that are taken at once are never written to disk.
    saveTickets(this.#storage.kv, this.#queue.takeChanges());
    await Promise.all(running);
  }

  /** Disconnects silent nodes, and removes tickets that were not advertised again. */
  #sweep(now: number): Promise<void>[] {
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return [];
    this.#sweptAt = now;
    for (const ticket of [...this.#queue.values()].filter((old) => isStale(old, now))) {
      this.#queue.put({ ...ticket, count: 0 });
    }
    const silent = [...this.#deps.nodes.roster.values()].filter((node) => !this.#deps.nodes.isAlive(node, now));
    const reason = { code: GOING_AWAY, reason: "silent for too long" };
    return silent.map(({ socket }) => this.#deps.disconnect(socket, reason));
  }

  #wakeAt(at: number): void {
    const step = Math.ceil(at / ALARM_STEP_MS) * ALARM_STEP_MS;
    if (this.#alarmAt > Date.now() && this.#alarmAt <= step) return;
    this.#alarmAt = step;
    // Not awaited: the write joins those of this turn.
    void this.#storage.setAlarm(step);
  }

  /** Has the matched node claim tasks of the job; slots that get none become free again. */
  async #claim(match: Match<SocketNode>): Promise<void> {
    const { ticket, node, slots } = match;
    const { jobId, slotClass, accountId } = ticket;
    const { nodeId, session } = node;
    this.#deps.nodes.roster.reserve(slotClass, accountId, slots);
    const claimed = await this.#deps.jobs.call(jobId, (job) => job.claim({ nodeId, session, slotClass, max: slots }));
    for (const assignment of claimed ?? []) this.#deps.nodes.send(node, { type: "assign", assignment });
    this.#deps.nodes.roster.reserve(slotClass, accountId, -slots);
    this.#deps.nodes.update(node, holding(node, claimed ?? [], ticket));
    if (!claimed) this.#queue.giveBack(ticket, slots, Date.now() + CLAIM_RETRY_MS);
    const unused = slots - (claimed?.length ?? 0);
    if (unused === 0) return;
    this.#addFree(match, unused);
    await this.match();
  }

  #addFree({ node, ticket: { slotClass } }: Match<SocketNode>, slots: number): void {
    if (node.draining) return;
    this.#deps.nodes.update(node, { free: { ...node.free, [slotClass]: node.free[slotClass] + slots } });
  }
}
