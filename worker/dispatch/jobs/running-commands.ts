// Asks nodes for the ffmpeg runs of leases, while somebody looks at a job. Nothing is stored.
import type { LeaseId } from "#shared/ids.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { NodeFrameOf } from "#shared/protocol/frames.ts";
import type { NodeConnections, SocketNode } from "../connections/node-connections.ts";

/** A node that does not respond by then is left out. */
const LIMIT_MS = 2000;

type Answer = PromiseWithResolvers<CommandReport[]>;

export class RunningCommands {
  readonly #nodes: NodeConnections;
  readonly #requested = new Map<LeaseId, Answer>();

  constructor(nodes: NodeConnections) {
    this.#nodes = nodes;
  }

  /** The runs of each lease; none for a lease whose node does not respond. */
  async of(leases: readonly LeaseId[]): Promise<CommandReport[][]> {
    const answers = leases.map((lease) => this.#ask(lease));
    const timer = setTimeout(() => {
      for (const answer of answers) answer?.resolve([]);
    }, LIMIT_MS);
    const reports = await Promise.all(answers.map((answer) => answer?.promise ?? []));
    clearTimeout(timer);
    return reports;
  }

  /** Handles the answer of a node. */
  answered(node: SocketNode, { lease, commands }: NodeFrameOf<"running">): void {
    if (this.#nodes.roster.holder(lease)?.nodeId === node.nodeId) this.#requested.get(lease)?.resolve(commands);
  }

  /** Requests that arrive before the answer share it. */
  #ask(lease: LeaseId): Answer | null {
    const node = this.#nodes.roster.holder(lease);
    if (!node) return null;
    const requested = this.#requested.get(lease);
    if (requested) return requested;
    const answer: Answer = Promise.withResolvers();
    this.#requested.set(lease, answer);
    void answer.promise.then(() => this.#requested.delete(lease));
    this.#nodes.send(node, { type: "look", lease });
    return answer;
  }
}
