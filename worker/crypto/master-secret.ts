// Derives all keys from MASTER_SECRET, so that the operator keeps a single secret.
import { createHmac } from "node:crypto";
import { hex } from "./bytes.ts";
import type { Pepper } from "./peppers.ts";
import type { SealingKeys } from "./sealed-secret.ts";

const MIN_CHARS = 32;

/** Keys of all master secrets, the newest secret first. */
export type MasterKeys = { readonly peppers: readonly Pepper[]; readonly sealingKeys: SealingKeys };

/**
 * Caches the last result: nearly every call has the same text, because a Worker's variables do not change while it
 * runs.
 */
let last: { readonly text: string; readonly keys: MasterKeys } | null = null;

/**
 * Derives a sealing key and a pepper from each secret. Commas separate the secrets. Throws an error for the operator.
 */
export function masterKeysOf(text: string): MasterKeys {
  if (last?.text !== text) last = { text, keys: deriveKeys(text) };
  return last.keys;
}

function deriveKeys(text: string): MasterKeys {
  const derived = text.split(",").map((entry) => {
    const secret = entry.trim();
    if (secret.length < MIN_CHARS) {
      throw new Error(
        `MASTER_SECRET: each of the secrets, separated by commas, must have at least ${MIN_CHARS} characters; ` +
          "create it with: openssl rand -base64 32",
      );
    }
    // Sealed text names its key: the name must follow from the secret, and must not reveal it.
    const name = `m${hex(derive(secret, "copra key name 1")).slice(0, 8)}`;
    return {
      pepper: { name, text: `${name}:${hex(derive(secret, "copra key pepper 1"))}` },
      sealingKey: { id: name, bytes: derive(secret, "copra sealing key 1") },
    };
  });
  return { peppers: derived.map(({ pepper }) => pepper), sealingKeys: derived.map(({ sealingKey }) => sealingKey) };
}

/** HKDF-SHA-256 (RFC 5869) without a salt; `info` is the purpose of the 32 bytes. */
function derive(secret: string, info: string): Uint8Array<ArrayBuffer> {
  const extracted = createHmac("sha256", new Uint8Array(32)).update(secret).digest();
  return new Uint8Array(createHmac("sha256", extracted).update(`${info}\x01`).digest());
}
