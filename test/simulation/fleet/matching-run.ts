// A run of the hub's matching alone: jobs advertise, the matching decides, and nodes are busy for the time of the work.

import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { randomOf } from "#shared/testing/random.ts";
import { VirtualTime } from "../platform/virtual-time.ts";
import { FairShares } from "./fair-shares.ts";
import { drawPriority, drawWorkload, HOUR_MS, regionOf, type Scenario } from "./scenario.ts";
import { jainIndex } from "./statistics.ts";

type Node = { readonly nodeId: string; free: SlotCounts; leases: Record<string, SlotClass> } & Record<string, unknown>;
type Ticket = { readonly jobId: string; readonly slotClass: SlotClass; readonly accountId: string };
type Match = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };
type Claimed = readonly { readonly lease: string; readonly slotClass: SlotClass }[];
type Event =
  | { readonly kind: "advertise"; readonly offers: readonly object[] }
  | { readonly kind: "claimed"; readonly match: Match; readonly claimed: Claimed }
  | { readonly kind: "look" };
/**
 * The interface of worker/dispatch/matching/. It is loaded at run time, because types of the Worker and of Node differ.
 */
type Matching = {
  readonly roster: { add(node: Node): void; change(node: Node, patch: object): void };
  step(event: Event, now: number): { readonly matches: readonly Match[]; readonly wakeAt: number | null };
};
type Roster = Matching["roster"];

type Job = {
  readonly id: string;
  readonly account: number;
  readonly priority: number;
  readonly encodeMs: number;
  readonly fetchMs: number;
  readonly since: number;
  phase: SlotClass | "claimed" | "done";
  waitingSince: number;
  waitedMs: number;
  /** The node that has the source. */
  source: string | null;
};

/** Round trip between the hub and a job, in ms. */
const CLAIM_MS = 20;
/** Time for which work waits for the node that has its source (worker/job/effects/advertise-effect.ts). */
const PREFER_MS = 2000;
/** The longest time between two advertisements (worker/job/effects/job-effects.ts). */
const READVERTISE_MS = 60 * 60_000;
const CAPABILITIES = { encoders: ["libx264"], muxers: ["mp4"], filters: ["scale"], hardware: null };

export class MatchingRun {
  readonly #scenario: Scenario;
  readonly #matching: Matching;
  readonly #time = new VirtualTime(1_793_491_200_000);
  readonly #random: () => number;
  readonly #jobs = new Map<string, Job>();
  readonly #waits = new Map<number, number[]>();
  readonly #received: number[];
  readonly #fairness = new FairShares();
  #arrived = 0;
  #submitted = 0;
  #steps = 0;
  #fetches = 0;
  #once = 0;
  #twice = 0;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(scenario: Scenario, matching: Matching) {
    this.#scenario = scenario;
    this.#matching = matching;
    this.#random = randomOf(scenario.seed);
    this.#received = new Array<number>(scenario.accounts).fill(0);
  }

  static async load(scenario: Scenario): Promise<MatchingRun> {
    const folder = new URL("../../../worker/dispatch/matching/", import.meta.url);
    const { Matching } = (await import(new URL("matching.ts", folder).href)) as {
      Matching: new (roster: Roster) => Matching;
    };
    const { Roster } = (await import(new URL("nodes/roster.ts", folder).href)) as { Roster: new () => Roster };
    return new MatchingRun(scenario, new Matching(new Roster()));
  }

  /** Runs until all jobs are done. */
  finish() {
    const { nodes, hours, burst, accounts } = this.#scenario;
    for (let number = 0; number < nodes; number++) this.#addNode(number);
    this.#submitNext();
    if (burst > 0) this.#time.after(0.4 * hours * HOUR_MS, () => this.#burst(burst, accounts));
    this.#time.runSync(Number.POSITIVE_INFINITY);
    return {
      done: { once: this.#once, twice: this.#twice },
      waits: this.#waits,
      steps: this.#steps,
      fetches: this.#fetches,
      jain: jainIndex(this.#fairness.shares ?? this.#received),
    };
  }

  #addNode(number: number): void {
    const { name } = regionOf(number);
    const labels = [`region:${name}`];
    const profile = { pool: "default", region: name, labels, capabilities: CAPABILITIES, spot: false };
    this.#matching.roster.add({
      nodeId: `node-${number}`,
      session: "s",
      profile,
      free: { inspect: 1, encode: 1 },
      leases: {},
      accounts: {},
      draining: false,
      heardAt: 0,
    });
  }

  #submitNext(): void {
    const { jobs, hours, accounts } = this.#scenario;
    if (this.#arrived++ >= jobs) return;
    this.#submit(Math.floor(accounts * this.#random()));
    this.#time.after((-Math.log(1 - this.#random()) * hours * HOUR_MS) / jobs, () => this.#submitNext());
  }

  #submit(account: number): void {
    const { encodeMs, fetchMs } = drawWorkload(this.#scenario, this.#random);
    const { now } = this.#time;
    const job: Job = {
      id: `J${String(this.#submitted++).padStart(13, "0")}`,
      encodeMs,
      fetchMs,
      since: now,
      account,
      priority: drawPriority(this.#random),
      phase: "inspect",
      waitingSince: now,
      waitedMs: 0,
      source: null,
    };
    this.#jobs.set(job.id, job);
    this.#fairness.submitted(account, encodeMs);
    this.#advertise(job, "inspect");
  }

  /** Submits many jobs of all accounts within a minute. */
  #burst(count: number, accounts: number): void {
    this.#fairness.begin(count / 2);
    for (let number = 0; number < count; number++) {
      this.#time.after((60_000 * number) / count, () => this.#submit(number % accounts));
    }
  }

  #advertise(job: Job, slotClass: SlotClass): void {
    const { id: jobId, account, priority, since, source } = job;
    this.#time.after(READVERTISE_MS, () => {
      if (job.phase === slotClass) this.#advertise(job, slotClass);
    });
    const prefer = { prefer: source, preferUntil: source === null ? 0 : this.#time.now + PREFER_MS };
    const offer = {
      jobId,
      accountId: `a${account}`,
      slotClass,
      count: 1,
      since,
      ...prefer,
      avoid: [],
      avoidUntil: 0,
      requirements: { pool: "default", labels: [], needs: [] },
      priority,
      weight: 1,
      maxRunning: null,
      maxPriority: null,
      blamed: [],
      steady: false,
    };
    this.#step({ kind: "advertise", offers: [offer] });
  }

  #step(event: Event): void {
    this.#steps += 1;
    const { matches, wakeAt } = this.#matching.step(event, this.#time.now);
    for (const match of matches) this.#time.after(CLAIM_MS, () => this.#claim(match));
    if (wakeAt === null || wakeAt >= this.#wakesAt) return;
    this.#wakesAt = wakeAt;
    this.#time.at(wakeAt, () => {
      this.#wakesAt = Number.POSITIVE_INFINITY;
      this.#step({ kind: "look" });
    });
  }

  #claim(match: Match): void {
    const { jobId, slotClass } = match.ticket;
    const job = this.#jobs.get(jobId);
    if (!job || job.phase !== slotClass) return this.#step({ kind: "claimed", match, claimed: [] });
    const lease = `${jobId}.${slotClass}.1`;
    job.phase = "claimed";
    job.waitedMs += this.#time.now - job.waitingSince;
    if (slotClass === "encode") this.#fairness.started(job.account, job.encodeMs);
    this.#step({ kind: "claimed", match, claimed: [{ lease, slotClass }] });
    const hasSource = job.source === match.node.nodeId;
    if (!hasSource) this.#fetches += 1;
    const workMs = slotClass === "encode" ? job.encodeMs : 0;
    this.#time.after((hasSource ? 0 : job.fetchMs) + workMs, () => this.#end(job, match.node, slotClass, lease));
  }

  #end(job: Job, node: Node, slotClass: SlotClass, lease: string): void {
    if (slotClass === "encode") this.#done(job);
    else {
      // The job gets the report before the hub gets the node's free slot. The node holds this slot for the encode.
      Object.assign(job, { phase: "encode", waitingSince: this.#time.now, source: node.nodeId });
      this.#advertise(job, "encode");
    }
    const { [lease]: _ended, ...leases } = node.leases;
    this.#matching.roster.change(node, { leases, free: { ...node.free, [slotClass]: node.free[slotClass] + 1 } });
    this.#step({ kind: "look" });
  }

  #done(job: Job): void {
    if (job.phase === "done") this.#twice += 1;
    else this.#once += 1;
    job.phase = "done";
    this.#received[job.account] = (this.#received[job.account] ?? 0) + job.encodeMs;
    const waits = this.#waits.get(job.priority) ?? [];
    this.#waits.set(job.priority, waits);
    waits.push(job.waitedMs);
    this.#jobs.delete(job.id);
  }
}
