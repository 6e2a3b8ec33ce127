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

export class NodeNames {
  readonly #kv: SyncKvStorage;
  /** Least recently used names first. */
  readonly #owners: Map<string, Owner>;

  /** Loads the names from disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    const stored = [...kv.list({ prefix: NAMES })].flatMap(([key, value]) => {
      const owner = Owner.safeParse(value);
      return owner.success ? [[key.slice(NAMES.length), owner.data] as const] : [];
    });
    this.#owners = new Map(stored.sort(([, first], [, second]) => first.seenAt - second.seenAt));
  }

  /** Reserves a name for a token. Returns false if the name belongs to another token. */
  reserve({ nodeId, token, isConnected }: NameClaim, now: number): boolean {
    const owner = this.#owners.get(nodeId);
    const isForeign = owner !== undefined && owner.token !== token;
    if (isForeign && (isConnected || now - owner.seenAt < UNUSED_MS)) return false;
    if (owner?.token !== token) {
      const [oldest, ...others] = this.#namesOf(token);
      if (oldest !== undefined && others.length >= MAX_NAMES - 1) this.#forget(oldest);
    }
    this.#owners.delete(nodeId);
    this.#owners.set(nodeId, { token, seenAt: now });
    this.#kv.put(NAMES + nodeId, { token, seenAt: now });
    return true;
  }

  /** Frees the names of a revoked token. */
  release(token: string): void {
    for (const nodeId of this.#namesOf(token)) this.#forget(nodeId);
  }

  #namesOf(token: string): string[] {
    return [...this.#owners].flatMap(([nodeId, owner]) => (owner.token === token ? [nodeId] : []));
  }

  #forget(nodeId: string): void {
    this.#owners.delete(nodeId);
    this.#kv.delete(NAMES + nodeId);
  }
}
