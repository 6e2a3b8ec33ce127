// Tokens of upload links: the id of the link and its signature. The holder needs no other credential.
import { isSame, keyedDigest } from "./keyed-digest.ts";
import type { SealingKeys } from "./sealed-secret.ts";

/** Hexadecimal: 128 bits. */
const SIGNATURE_CHARS = 32;

const signatureOf = (id: string, key: SealingKeys[number] | undefined): string =>
  keyedDigest("copra upload link 1", id, key).slice(0, SIGNATURE_CHARS);

export const linkToken = (id: string, [key]: SealingKeys): string => `${id}${signatureOf(id, key)}`;

/** The id of the link; null if the service did not sign the token. */
export function linkOfToken(token: string, keys: SealingKeys): string | null {
  const id = token.slice(0, -SIGNATURE_CHARS);
  const isSigned = keys.some((key) => isSame(token.slice(-SIGNATURE_CHARS), signatureOf(id, key)));
  return isSigned ? id : null;
}
