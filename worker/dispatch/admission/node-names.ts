// The owners of nodes' names. A name belongs to the token that used it first, so that no other token can replace the
// node.
import * as z from "zod";

const Owner = z.object({
  /** The token's id. */
  token: z.string(),
  /** Time of the last hello of the token's node; ms since 1970. */
  seenAt: z.number(),
});
type Owner = z.infer<typeof Owner>;

const NAMES = "name:";
/** An unused name is free after this time: operators reinstall machines and replace tokens. */
const UNUSED_MS = 24 * 60 * 60_000;
/** Maximum number of names per token. Beyond it, the token's least recently used name is forgotten. */
const MAX_NAMES = 1024;

/** A node that wants to use a name. `isConnected`: a node of this name is connected now. */
export type NameClaim = { readonly nodeId: string; readonly token: string; readonly isConnected: boolean };

/** No method iterates over all names. */
export class NodeNames {
  readonly #kv: SyncKvStorage;
  readonly #owners = new Map<string, Owner>();
  /** The names of each token, least recently used first. */
  readonly #names = new Map<string, Set<string>>();

  /** Loads the names from disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    const stored = [...kv.list({ prefix: NAMES })].flatMap(([key, value]) => {
      const owner = Owner.safeParse(value);
      return owner.success ? [{ nodeId: key.slice(NAMES.length), owner: owner.data }] : [];
    });
    for (const { nodeId, owner } of stored.toSorted((one, other) => one.owner.seenAt - other.owner.seenAt)) {
      this.#remember(nodeId, owner);
    }
  }

  /** Takes a name for a token. Returns false if the name belongs to another token. */
  take({ nodeId, token, isConnected }: NameClaim, now: number): boolean {
    const owner = this.#owners.get(nodeId);
    if (owner && owner.token !== token && (isConnected || now - owner.seenAt < UNUSED_MS)) return false;
    this.#forget(nodeId);
    const [oldest] = this.#names.get(token) ?? [];
    if (oldest !== undefined && (this.#names.get(token)?.size ?? 0) >= MAX_NAMES) this.#forget(oldest);
    this.#remember(nodeId, { token, seenAt: now });
    this.#kv.put(NAMES + nodeId, { token, seenAt: now });
    return true;
  }

  /** Frees the names of a revoked token. */
  release(token: string): void {
    for (const nodeId of this.#names.get(token) ?? []) this.#forget(nodeId);
  }

  #remember(nodeId: string, owner: Owner): void {
    this.#owners.set(nodeId, owner);
    const names = this.#names.get(owner.token) ?? new Set();
    this.#names.set(owner.token, names.add(nodeId));
  }

  #forget(nodeId: string): void {
    const owner = this.#owners.get(nodeId);
    if (!owner) return;
    this.#owners.delete(nodeId);
    this.#kv.delete(NAMES + nodeId);
    const names = this.#names.get(owner.token);
    names?.delete(nodeId);
    if (names?.size === 0) this.#names.delete(owner.token);
  }
}
