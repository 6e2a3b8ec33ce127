// The hub's turns with jobs, on behalf of nodes.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import type { NodeFrameOf, ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { Assignment, RunningLease } from "#shared/protocol/tasks.ts";
import type { HubEnv } from "../../bindings.ts";
import { isJobToken } from "../../crypto/lease-token.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { jobOf } from "../../rpc/job.ts";
import type { ClaimRequest, SeenProgress, Turn } from "../../rpc/turn.ts";
import { sealingKeysOf } from "../../settings.ts";
import type { NodeConnections, SocketNode } from "../connections/node-connections.ts";
import { PROGRESS_EVERY_MS, ProgressRelay, WATCHED_EVERY_MS } from "../connections/progress-relay.ts";
import { holding } from "../matching/nodes/connected-node.ts";
import { JobTurns, type PartAnswer } from "./job-turns.ts";

/** Attempts per turn. Turns are idempotent. */
const TRIES = 2;
/** Maximum number of recently lost sessions, by node. Beyond it, the oldest sessions are forgotten. */
const MAX_LOST = 10_000;

export class JobCalls {
  readonly #env: HubEnv;
  readonly #nodes: NodeConnections;
  readonly #turns: JobTurns;
  readonly #relay = new ProgressRelay();
  /** Interval of each node's reports, if known. */
  readonly #pace = new WeakMap<SocketNode, number>();
  readonly #reporting = new Set<LeaseId>();
  readonly #lost = new Map<string, { readonly session: string; readonly jobs: ReadonlySet<string> }>();

  constructor(env: HubEnv, nodes: NodeConnections) {
    this.#env = env;
    this.#nodes = nodes;
    this.#turns = new JobTurns((jobId, turn) => this.#call(jobId, turn));
    this.#relay.restore([...nodes.roster.values()].flatMap(({ progress }) => progress));
  }

  /** Claims tasks of a job for a node. Returns null if the job is not reachable. */
  async claim(jobId: string, request: ClaimRequest): Promise<readonly Assignment[] | null> {
    const answer = await this.#turns.exchange(jobId, { want: [{ ...request, requestId: crypto.randomUUID() }] });
    const assignments = answer?.assigned[0] ?? null;
    const now = Date.now();
    for (const assignment of assignments ?? []) this.#relay.assigned(assignment, now);
    return assignments;
  }

  /** Forwards the progress that the jobs need. */
  async progress(node: SocketNode, items: readonly ProgressItem[]): Promise<void> {
    const now = Date.now();
    await this.#forEachJob(node, this.#relay.due(items, now), (jobId, progress) =>
      this.#turns.exchange(jobId, { progress }),
    );
    const known = this.#relay.knownOf(Object.keys(node.leases));
    const speed = known.reduce((sum, { item }) => sum + (item.speed ?? 0), 0);
    this.#nodes.history.note(node, speed, Date.now());
    this.#nodes.keepProgress(node, known);
    this.#setPace(node, now);
  }

  /** Delivers a node's report. If it is unknown whether the job has stored the report, the node sends it by POST. */
  async report(node: SocketNode, { id, report }: NodeFrameOf<"report">): Promise<void> {
    const { lease, body } = report;
    const jobId = parseLeaseId(lease)?.job;
    const mayExist = jobId !== undefined && this.#mayExist(node, [{ lease, token: body.token }]);
    this.#reporting.add(lease);
    const answer = mayExist ? await this.#turns.exchange(jobId, { done: [report] }) : null;
    this.#reporting.delete(lease);
    const isAccepted = mayExist ? (answer?.acks[0] ?? null) : false;
    this.#nodes.send(node, { type: "ack", id, isAccepted });
  }

  /** True while a report on a lease is on its way to the job. */
  isReporting(lease: LeaseId): boolean {
    return this.#reporting.has(lease);
  }

  /** Handles a newly connected node that still works on these leases. Records the accounts of their jobs. */
  async running(node: SocketNode, running: readonly RunningLease[]): Promise<void> {
    this.#pace.set(node, PROGRESS_EVERY_MS);
    const before = this.#lost.get(node.nodeId);
    this.#lost.delete(node.nodeId);
    const ended = before && before.session !== node.session ? this.#end(before) : null;
    await this.#forEachJob(node, running, async (jobId, leases) => {
      const answer = await this.#turns.exchange(jobId, { alive: leases.map(({ lease, token }) => ({ lease, token })) });
      const good = leases.filter(({ lease }) => answer && !answer.cancel.includes(lease));
      const accountId = answer?.accountId ?? "";
      if (good.length > 0) this.#nodes.update(node, holding(node, good, { jobId, accountId }));
      return answer;
    });
    await ended;
  }

  /**
   * Handles a lost connection. `hasEnded`: the connection's process has ended, and another process of the node has
   * replaced it.
   */
  async lost({ nodeId, leases, session }: SocketNode, hasEnded = false): Promise<void> {
    const jobs = new Set<string>(Object.keys(leases).flatMap((lease) => parseLeaseId(lease)?.job ?? []));
    this.#relay.forget(Object.keys(leases), Date.now());
    if (hasEnded) return this.#end({ session, jobs });
    if (jobs.size > 0) this.#lost.set(nodeId, { session, jobs });
    for (const [oldest] of this.#lost) {
      if (this.#lost.size <= MAX_LOST) break;
      this.#lost.delete(oldest);
    }
    await Promise.all([...jobs].map((jobId) => this.#turns.exchange(jobId, { lost: [{ session, hasEnded }] })));
  }

  /** Handles leases that a node no longer holds. */
  released(leases: readonly string[]): void {
    this.#relay.forget(leases, Date.now());
  }

  /** Makes the nodes of these leases report often until `until`, because somebody follows the job. */
  async watch(jobId: string, leases: readonly LeaseId[], until: number): Promise<SeenProgress[]> {
    const now = Date.now();
    const latest = this.#relay.watch(jobId, until, now);
    for (const lease of leases) {
      const node = this.#nodes.roster.holder(lease);
      if (node) this.#setPace(node, now);
    }
    return latest;
  }

  async #end({ session, jobs }: { session: string; jobs: ReadonlySet<string> }): Promise<void> {
    await Promise.all([...jobs].map((jobId) => this.#turns.exchange(jobId, { lost: [{ session, hasEnded: true }] })));
  }

  #setPace(node: SocketNode, now: number): void {
    const isWatched = Object.keys(node.leases).some((lease) => this.#relay.isWatched(lease, now));
    const progressEveryMs = isWatched ? WATCHED_EVERY_MS : PROGRESS_EVERY_MS;
    if (this.#pace.get(node) === progressEveryMs) return;
    this.#pace.set(node, progressEveryMs);
    this.#nodes.send(node, { type: "pace", progressEveryMs });
  }

  /** Calls each job of these leases with its own items, and notifies the node to drop the leases that the job names. */
  async #forEachJob<Item extends LeaseProof>(
    node: SocketNode,
    items: readonly Item[],
    exchange: (jobId: string, items: Item[]) => Promise<PartAnswer>,
  ): Promise<void> {
    const byJob = Map.groupBy(items, ({ lease }) => parseLeaseId(lease)?.job ?? "");
    await Promise.all(
      [...byJob].map(async ([jobId, ofJob]) => {
        const mayExist = this.#mayExist(node, ofJob);
        const cancel = mayExist ? (await exchange(jobId, ofJob))?.cancel : ofJob.map(({ lease }) => lease);
        const cancelled = ofJob.filter(({ lease }) => cancel?.includes(lease));
        for (const { lease } of cancelled) this.#nodes.send(node, { type: "cancel", lease });
      }),
    );
  }

  /** Sends a turn, and tries again with the same ids. Returns null if the job is not reachable. */
  async #call(jobId: string, turn: Turn): Promise<PartAnswer> {
    for (let tried = 1; ; tried++) {
      try {
        // The stub is new in each attempt: a stub that threw is broken.
        const answer = await withDeadline("turn", jobOf(this.#env, jobId).turn(turn));
        if (answer.watchUntil > Date.now()) this.#relay.watch(jobId, answer.watchUntil, Date.now());
        return answer;
      } catch (error) {
        log.warn("job not reachable", { job: jobId, tried, error: messageOf(error) });
        if (tried >= TRIES) return null;
      }
    }
  }

  /** True if the job of these leases may exist. Calls for jobs that never existed must not create objects. */
  #mayExist({ leases }: SocketNode, proofs: readonly LeaseProof[]): boolean {
    const sealingKeys = sealingKeysOf(this.#env);
    return proofs.some((proof) => Object.hasOwn(leases, proof.lease) || isJobToken(proof, sealingKeys));
  }
}
