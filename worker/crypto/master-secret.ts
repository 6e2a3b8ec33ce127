// Derives all keys from MASTER_SECRET, so that the operator keeps a single secret.
import { createHmac } from "node:crypto";
import { hex } from "./bytes.ts";
import type { SealingKeys } from "./sealed-secret.ts";

const MIN_CHARS = 32;

/** Derives a sealing key from each secret. Commas separate the secrets. Throws an error for the operator. */
export function masterKeysOf(text: string): SealingKeys {
  return text.split(",").map((entry) => {
    const secret = entry.trim();
    if (secret.length < MIN_CHARS) {
      throw new Error(
        `MASTER_SECRET: each of the secrets, separated by commas, must have at least ${MIN_CHARS} characters; ` +
          "create it with: openssl rand -base64 32",
      );
    }
    // Sealed text names its key: the name must follow from the secret, and must not reveal it.
    const id = `m${hex(derive(secret, "copra key name 1")).slice(0, 8)}`;
    return { id, bytes: derive(secret, "copra sealing key 1") };
  });
}

/** HKDF-SHA-256 (RFC 5869) without a salt; `info` is the purpose of the 32 bytes. */
function derive(secret: string, info: string): Uint8Array<ArrayBuffer> {
  const extracted = createHmac("sha256", new Uint8Array(32)).update(secret).digest();
  return new Uint8Array(createHmac("sha256", extracted).update(`${info}\x01`).digest());
}
