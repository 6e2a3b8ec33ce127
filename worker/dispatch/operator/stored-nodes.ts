// Data about nodes for the operator's side, by the nodes' names, on the hub's disk and in memory.
import type * as z from "zod";

export class StoredNodes<Value> {
  readonly #kv: SyncKvStorage;
  readonly #prefix: string;
  readonly #nodes = new Map<string, Value>();

  /** Loads the rows with this prefix from disk, and removes rows that do not match the schema. */
  constructor(kv: SyncKvStorage, prefix: string, schema: z.ZodType<Value>) {
    this.#kv = kv;
    this.#prefix = prefix;
    for (const [key, value] of kv.list({ prefix })) {
      const node = schema.safeParse(value);
      if (node.success) this.#nodes.set(key.slice(prefix.length), node.data);
      else kv.delete(key);
    }
  }

  get(nodeId: string): Value | null {
    return this.#nodes.get(nodeId) ?? null;
  }

  ids(): Iterable<string> {
    return this.#nodes.keys();
  }

  /** A copy: nodes may be set and deleted meanwhile. */
  entries(): [nodeId: string, node: Value][] {
    return [...this.#nodes];
  }

  set(nodeId: string, node: Value): void {
    this.#nodes.set(nodeId, node);
    this.#kv.put(this.#prefix + nodeId, node);
  }

  delete(nodeId: string): void {
    if (this.#nodes.delete(nodeId)) this.#kv.delete(this.#prefix + nodeId);
  }
}
