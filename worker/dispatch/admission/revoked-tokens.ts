// The tokens that were revoked, for as long as a session of their nodes may be valid: sessions are not looked up in the
// database.
import { SESSION_MS } from "#shared/protocol/frames.ts";

const PREFIX = "revoked:";
/** Another hub of the pool may sign a last session while the revocation is on its way. */
const KEEP_MS = SESSION_MS + 10 * 60_000;

export class RevokedTokens {
  readonly #kv: SyncKvStorage;
  /** When each was revoked; ms since 1970. */
  readonly #revokedAt = new Map<string, number>();

  /** Starts with those on disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, at] of kv.list({ prefix: PREFIX })) {
      this.#revokedAt.set(key.slice(PREFIX.length), typeof at === "number" ? at : 0);
    }
  }

  has(token: string, now: number): boolean {
    return now - (this.#revokedAt.get(token) ?? Number.NEGATIVE_INFINITY) < KEEP_MS;
  }

  /** Adds a token, and removes those whose sessions have expired. */
  add(token: string, now: number): void {
    for (const [old, at] of this.#revokedAt) if (now - at >= KEEP_MS) this.#remove(old);
    this.#revokedAt.set(token, now);
    this.#kv.put(PREFIX + token, now);
  }

  #remove(token: string): void {
    this.#revokedAt.delete(token);
    this.#kv.delete(PREFIX + token);
  }
}
