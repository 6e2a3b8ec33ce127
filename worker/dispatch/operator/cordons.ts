// The nodes that the operator has cordoned, on the hub's disk: they get no work, also after they reconnect.
import * as z from "zod";

const Cordon = z.object({
  /** The pool that the node was in. */
  pool: z.string(),
  /** The session of a node that was asked to drain: a newer process of it is not. */
  draining: z.string().nullable(),
});
export type Cordon = z.infer<typeof Cordon>;

const PREFIX = "cordon:";

export class Cordons {
  readonly #kv: SyncKvStorage;
  readonly #cordons = new Map<string, Cordon>();

  /** Starts with those on disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, value] of kv.list({ prefix: PREFIX })) {
      const cordon = Cordon.safeParse(value);
      if (cordon.success) this.#cordons.set(key.slice(PREFIX.length), cordon.data);
      else kv.delete(key);
    }
  }

  get(nodeId: string): Cordon | null {
    return this.#cordons.get(nodeId) ?? null;
  }

  entries(): Iterable<[nodeId: string, cordon: Cordon]> {
    return this.#cordons;
  }

  set(nodeId: string, cordon: Cordon): void {
    this.#cordons.set(nodeId, cordon);
    this.#kv.put(PREFIX + nodeId, cordon);
  }

  delete(nodeId: string): void {
    if (this.#cordons.delete(nodeId)) this.#kv.delete(PREFIX + nodeId);
  }
}
