// Whose each node's name is: that of the token that used it first. Another token cannot take a node's place by its name.
import * as z from "zod";

const Owner = z.object({
  /** The token's id. */
  token: z.string(),
  /** When it last said hello; ms since 1970. */
  seenAt: z.number(),
});
type Owner = z.infer<typeof Owner>;

const NAMES = "name:";
/** A name that nobody has used for so long is free: machines are set up anew, and tokens replaced. */
const UNUSED_MS = 24 * 60 * 60_000;
/** Of one token so many names are remembered; beyond that the one that was used longest ago is forgotten. */
const MAX_NAMES = 1024;

/** Nothing that is asked of it walks over all names. */
export class NodeNames {
  readonly #kv: SyncKvStorage;
  readonly #owners = new Map<string, Owner>();
  /** The names of each token, the one used longest ago first. */
  readonly #names = new Map<string, Set<string>>();

  /** Begins with what is on the disk. */
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

  /** Takes a name for a token; false: it is another's. `isConnected`: a node of that name is connected now. */
  take(nodeId: string, token: string, isConnected: boolean, now: number): boolean {
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
