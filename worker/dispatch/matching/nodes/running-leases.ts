// The leases of all connected nodes.
import { parseLeaseId } from "#shared/ids.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "./connected-node.ts";

/** The account of a lease whose job is unknown. */
const UNKNOWN_ACCOUNT = "";

/** A lease of a connected node. */
export type Running = {
  readonly lease: string;
  readonly jobId: string;
  readonly accountId: string;
  readonly nodeId: string;
  readonly slotClass: SlotClass;
};

/** The account of a lease's job, if known. */
export const accountOf = ({ accounts }: Pick<ConnectedNode, "accounts">, lease: string): string =>
  accounts[parseLeaseId(lease)?.job ?? ""] ?? UNKNOWN_ACCOUNT;

export class RunningLeases<Node extends ConnectedNode> {
  readonly #running = new Map<string, Running & { readonly node: Node }>();

  values(): Iterable<Running> {
    return this.#running.values();
  }

  /** The node that holds a lease. */
  holder(lease: string): Node | null {
    return this.#running.get(lease)?.node ?? null;
  }

  /** Adds the leases of a node. */
  add(node: Node): void {
    for (const [lease, slotClass] of Object.entries(node.leases)) {
      const jobId = parseLeaseId(lease)?.job ?? "";
      const accountId = accountOf(node, lease);
      this.#running.set(lease, { lease, jobId, accountId, nodeId: node.nodeId, slotClass, node });
    }
  }

  /** Removes leases of a node. Returns the leases that no newer connection of the node has. */
  end(node: Node, leases: readonly string[]): Running[] {
    return leases.flatMap((lease) => {
      const running = this.#running.get(lease);
      if (running?.node !== node) return [];
      this.#running.delete(lease);
      return [running];
    });
  }
}
