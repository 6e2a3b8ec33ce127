// Tokens of upload links: the id of the link and its signature. The holder needs no other credential.
import { createHmac } from "node:crypto";
import { isSame } from "./node-session.ts";
import type { SealingKeys } from "./sealed-secret.ts";

/** Hexadecimal: 128 bits. */
const SIGNATURE_CHARS = 32;

/** Derives a key for this purpose first, so that a signature reveals nothing about the sealing key. */
function signatureOf(id: string, { bytes }: SealingKeys[number]): string {
  const key = createHmac("sha256", bytes).update("copra upload link 1").digest();
  return createHmac("sha256", key).update(id).digest("hex").slice(0, SIGNATURE_CHARS);
}

export function linkToken(id: string, [key]: SealingKeys): string {
  if (!key) throw new Error("SEALING_KEYS is empty");
  return `${id}${signatureOf(id, key)}`;
}

/** The id of the link; null if the service did not sign the token. */
export function linkOfToken(token: string, keys: SealingKeys): string | null {
  const id = token.slice(0, -SIGNATURE_CHARS);
  const isSigned = keys.some((key) => isSame(token.slice(-SIGNATURE_CHARS), signatureOf(id, key)));
  return isSigned ? id : null;
}
