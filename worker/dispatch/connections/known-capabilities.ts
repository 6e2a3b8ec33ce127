// The capabilities of nodes, each stored once. Most nodes of a fleet have the same capabilities, which are too long for
// the attachment of a socket.
import { createHmac } from "node:crypto";
import { Capabilities } from "#shared/protocol/capabilities.ts";

const PREFIX = "capabilities:";
/** Fleets have tens of capabilities. Beyond this number, the hub forgets capabilities that no connected node has. */
const MAX_KNOWN = 256;
/** 96 bits. The keys are only names, so the HMAC needs no secret. */
const KEY_CHARS = 24;
const NO_KEY = new TextEncoder().encode("copra capabilities");

export class KnownCapabilities {
  readonly #kv: SyncKvStorage;
  readonly #known = new Map<string, Capabilities>();

  /** Loads the capabilities from disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, value] of kv.list({ prefix: PREFIX })) {
      const stored = Capabilities.safeParse(value);
      if (stored.success) this.#known.set(key.slice(PREFIX.length), stored.data);
      else kv.delete(key);
    }
  }

  /** The capabilities of a key; null if they were forgotten. */
  get(key: string): Capabilities | null {
    return this.#known.get(key) ?? null;
  }

  /** Stores capabilities and returns their key. `inUse` returns the keys of the connected nodes. */
  put(capabilities: Capabilities, inUse: () => ReadonlySet<string>): string {
    const key = createHmac("sha256", NO_KEY).update(JSON.stringify(capabilities)).digest("hex").slice(0, KEY_CHARS);
    if (this.#known.has(key)) return key;
    if (this.#known.size >= MAX_KNOWN) this.#forget(inUse());
    this.#known.set(key, capabilities);
    this.#kv.put(PREFIX + key, capabilities);
    return key;
  }

  #forget(inUse: ReadonlySet<string>): void {
    for (const key of this.#known.keys()) {
      if (inUse.has(key)) continue;
      this.#known.delete(key);
      this.#kv.delete(PREFIX + key);
    }
  }
}
