// The owners of nodes' names: a name belongs to the token that used it first, so that no other token can replace the
// node.
import * as z from "zod";

const Owner = z.object({
  /** The token's id. */
  token: z.string(),
  /** When its node last sent hello; ms since 1970. */
  seenAt: z.number(),
});
type Owner = z.infer<typeof Owner>;

const NAMES = "name:";
/** A name that was not used for this long is free: operators reinstall machines and replace tokens. */
const UNUSED_MS = 24 * 60 * 60_000;
/** The number of names that a token can own; beyond that its least recently used name is forgotten. */
const MAX_NAMES = 1024;

/** What a node connects with. `isConnected`: a node of this name is connected now. */
export type NameClaim = { readonly nodeId: string; readonly token: string; readonly isConnected: boolean };

/** No method looks at all names. */
export class NodeNames {
  readonly #kv: SyncKvStorage;
  readonly #owners = new Map<string, Owner>();
  /** The names of each token, the least recently used first. */
  readonly #names = new Map<string, Set<string>>();

  /** Starts with the names on disk. */
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

  /** Takes a name for a token; false: it belongs to another token. */
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

  /** A token was revoked: its names are free. */
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
