// Nodes that are no longer connected, with their last properties.
import * as z from "zod";
import type { SocketNode } from "../connections/node-connections.ts";
import { StoredNodes } from "./stored-nodes.ts";

const GoneNode = z.object({
  pool: z.string(),
  labels: z.array(z.string()),
  host: z.string().nullable(),
  version: z.string().nullable(),
  spot: z.boolean(),
  /** End of its connection; ms since 1970. */
  goneAt: z.number(),
  /** Its first leases at the end of the connection. */
  leases: z.array(z.string()),
  /** True if the node had announced its end: after a signal, or because the operator drained it. */
  isStopped: z.boolean(),
});
export type GoneNode = z.infer<typeof GoneNode>;

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Autoscaled fleets have new names each day: the oldest nodes are forgotten first. */
const MAX_NODES = 100;
const MAX_LEASES = 20;

export class GoneNodes {
  readonly #stored: StoredNodes<GoneNode>;

  constructor(kv: SyncKvStorage) {
    this.#stored = new StoredNodes(kv, "gone:", GoneNode);
  }

  /** Adds a node whose connection has ended. A drained spot machine is no loss. */
  add({ nodeId, profile, about, leases, draining }: Omit<SocketNode, "socket">, now: number): void {
    if (about.spot && draining) return;
    const { pool, labels } = profile;
    const { host, version, spot } = about;
    const held = Object.keys(leases).slice(0, MAX_LEASES);
    this.#stored.set(nodeId, { pool, labels, host, version, spot, goneAt: now, leases: held, isStopped: draining });
    for (const [id] of this.list(now).slice(MAX_NODES)) this.#stored.delete(id);
  }

  get(nodeId: string, now: number): GoneNode | null {
    const node = this.#stored.get(nodeId);
    return node && node.goneAt > now - KEPT_MS ? node : null;
  }

  /** The gone nodes, newest first. Removes nodes that are too old. */
  list(now: number): [nodeId: string, node: GoneNode][] {
    for (const [id] of this.#stored.entries()) if (!this.get(id, now)) this.#stored.delete(id);
    return this.#stored.entries().sort(([, one], [, other]) => other.goneAt - one.goneAt);
  }

  delete(nodeId: string): void {
    this.#stored.delete(nodeId);
  }
}
