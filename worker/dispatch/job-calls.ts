// The hub's calls to jobs, on behalf of nodes.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { Env } from "../bindings.ts";
import { isLeaseToken } from "../crypto/lease-token.ts";
import { log } from "../log.ts";
import { type JobStub, jobOf } from "../rpc/job.ts";
import { settingsOf } from "../settings.ts";
import type { NodeConnections, SocketNode } from "./node-connections.ts";

export class JobCalls {
  readonly #env: Env;
  readonly #nodes: NodeConnections;

  constructor(env: Env, nodes: NodeConnections) {
    this.#env = env;
    this.#nodes = nodes;
  }

  /** Calls a job, through a new stub, because a stub that threw is broken. Null when the job is not reachable. */
  async call<Value>(id: string, call: (job: JobStub) => Promise<Value>): Promise<Value | null> {
    try {
      return await call(jobOf(this.#env, id));
    } catch (error) {
      log.warn("job not reachable", { job: id, error: messageOf(error) });
      return null;
    }
  }

  /**
   * Calls each job of these leases with its own items; the node is notified to drop the leases that the call returns.
   */
  async forEachJob<Item extends LeaseProof>(
    node: SocketNode,
    items: readonly Item[],
    call: (job: JobStub, items: Item[]) => Promise<LeaseId[]>,
  ): Promise<void> {
    const byJob = Map.groupBy(items, ({ lease }) => parseLeaseId(lease)?.job ?? "");
    await Promise.all(
      [...byJob].map(async ([id, own]) => {
        const dropped = this.#mayExist(node, own)
          ? await this.call(id, (job) => call(job, own))
          : own.map(({ lease }) => lease);
        for (const lease of dropped ?? []) this.#nodes.send(node, { type: "cancel", lease });
      }),
    );
  }

  /** The jobs of a lost connection's leases shorten them; otherwise they would expire by time. */
  async suspect({ leases, session }: SocketNode): Promise<void> {
    const jobs = new Set(Object.keys(leases).flatMap((lease) => parseLeaseId(lease)?.job ?? []));
    await Promise.all([...jobs].map((id) => this.call(id, (job) => job.suspect(session))));
  }

  /** Whether the job of these leases may exist: calls for jobs that never existed must not create objects. */
  #mayExist({ leases }: SocketNode, proofs: readonly LeaseProof[]): boolean {
    const { sealingKeys } = settingsOf(this.#env);
    return proofs.some((proof) => Object.hasOwn(leases, proof.lease) || isLeaseToken(proof, sealingKeys));
  }
}
