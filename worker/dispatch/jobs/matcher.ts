// Runs the matching: claims the tasks of its matches for their nodes, stores tickets, and sets the alarm.

import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { signatureOf } from "#shared/protocol/requirements.ts";
import { log } from "../../log.ts";
import type { Advertised, TicketOffer } from "../../rpc/hub.ts";
import type { CloseReason } from "../admission/admission.ts";
import type { NodeConnections, SocketNode } from "../connections/node-connections.ts";
import type { Match } from "../matching/choose.ts";
import { Matching, type MatchingEvent } from "../matching/matching.ts";
import { loadMatching, saveMatching } from "../matching/stored-matching.ts";
import { ticketKey } from "../matching/waiting/tickets.ts";
import type { JobCalls } from "./job-calls.ts";

/** Minimum interval between searches for silent nodes. */
const SWEEP_EVERY_MS = 15_000;
const SILENCE_CHECK_MS = 30_000;
/** The alarm rings at multiples of this interval: once for all tickets that open at about the same time. */
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
  readonly matching: Matching<SocketNode>;
  #sweptAt = 0;
  #alarmAt = 0;

  /** Loads tickets and profiles of nodes from disk. */
  constructor(storage: DurableObjectStorage, deps: MatcherDeps) {
    this.#storage = storage;
    this.#deps = deps;
    this.matching = new Matching(deps.nodes.roster);
    const { tickets, profiles } = loadMatching(storage.kv);
    this.matching.restore(tickets, profiles, Date.now());
  }

  /** Does not wait for the claims: they also concern other jobs. */
  advertise(offers: readonly TicketOffer[]): Advertised {
    const lost = this.#disconnectSilent();
    const matches = this.#decide({ kind: "advertise", offers });
    const claims = Promise.all([...lost, ...matches.map((match) => this.#claim(match))]);
    claims.catch((error: unknown) => log.error("matching failed", { error: messageOf(error) }));
    const now = Date.now();
    const missing = offers.flatMap(({ count, requirements }) =>
      count > 0 ? (this.matching.missing(requirements, now) ?? []) : [],
    );
    const { roster } = this.#deps.nodes;
    return {
      waitingFor: missing[0] ?? null,
      taken: takenOf(offers, matches),
      hasSource: offers.some(({ prefer }) => prefer !== null && roster.acceptingNode(prefer) !== null),
    };
  }

  /** Handles the alarm. */
  async ring(): Promise<void> {
    this.#alarmAt = 0;
    this.#wakeForSilence();
    await this.match();
  }

  /** Disconnects nodes that have been silent for too long: leases live for minutes without the hub. */
  async sweep(): Promise<void> {
    await Promise.all(this.#disconnectSilent());
  }

  /** Sets the alarm for a search for silent nodes, if another node could take their work. */
  #wakeForSilence(): void {
    const { roster, size } = this.#deps.nodes;
    const isAnyBusy = size > 1 && [...roster.values()].some(({ leases }) => Object.keys(leases).length > 0);
    if (isAnyBusy) this.#wakeAt(Date.now() + SILENCE_CHECK_MS);
  }

  /** Matches tickets with free slots after nodes or the time have changed, and claims the matched tasks. */
  async match(): Promise<void> {
    await Promise.all([...this.#disconnectSilent(), this.#step({ kind: "look" })]);
  }

  /** Claims the encode of an inspected job, with the result of its inspection in the same turn. */
  inspected(lease: LeaseId): Promise<void> {
    return this.#step({ kind: "inspected", lease });
  }

  async #step(event: MatchingEvent<SocketNode>): Promise<void> {
    await Promise.all(this.#decide(event).map((match) => this.#claim(match)));
  }

  /** Takes a step. The caller claims its matches. */
  #decide(event: MatchingEvent<SocketNode>): readonly Match<SocketNode>[] {
    const { matches, changed, writes, wakeAt } = this.matching.step(event, Date.now());
    for (const node of changed) this.#deps.nodes.update(node, {});
    // Same turn as the advertisement: tickets that are taken at once are never written to disk.
    saveMatching(this.#storage.kv, writes);
    // Wakes up early enough to find silent nodes, because work may wait for them.
    if (wakeAt !== null) this.#wakeAt(Math.min(wakeAt, Date.now() + SWEEP_EVERY_MS));
    return matches;
  }

  /** Claims tasks of the job for the matched node. */
  async #claim(match: Match<SocketNode>): Promise<void> {
    const { ticket, node, slots } = match;
    const { jobId, slotClass, requirements } = ticket;
    const { nodeId, session } = node;
    const request = { nodeId, session, slotClass, signature: signatureOf(requirements), max: slots };
    const claimed = await this.#deps.jobs.claim(jobId, request);
    for (const assignment of claimed ?? []) this.#deps.nodes.send(node, { type: "assign", assignment });
    if (this.#alarmAt <= Date.now()) this.#wakeForSilence();
    await this.#step({ kind: "claimed", match, claimed });
  }

  #disconnectSilent(): Promise<void>[] {
    const now = Date.now();
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return [];
    this.#sweptAt = now;
    const silent = [...this.#deps.nodes.roster.values()].filter((node) => !this.#deps.nodes.isAlive(node, now));
    const reason = { code: GOING_AWAY, reason: "silent for too long" };
    return silent.map(({ socket }) => this.#deps.disconnect(socket, reason));
  }

  #wakeAt(at: number): void {
    const step = Math.ceil(at / ALARM_STEP_MS) * ALARM_STEP_MS;
    if (this.#alarmAt > Date.now() && this.#alarmAt <= step) return;
    this.#alarmAt = step;
    // Not awaited: the write joins the other writes of this turn.
    void this.#storage.setAlarm(step);
  }
}

/** Number of matched tasks per offer. */
const takenOf = (offers: readonly TicketOffer[], matches: readonly Match<SocketNode>[]): number[] =>
  offers.map((offer) => {
    const key = ticketKey(offer);
    return matches.reduce((sum, { ticket, slots }) => sum + (ticketKey(ticket) === key ? slots : 0), 0);
  });
