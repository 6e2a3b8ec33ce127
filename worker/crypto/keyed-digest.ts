// Signatures and digests with a sealing key.
import { createHmac } from "node:crypto";
import { rememberedBy } from "../remembered-by.ts";
import type { SealingKeys } from "./sealed-secret.ts";

/**
 * HMAC-SHA-256 of data, in hex. Derives a key for the purpose first, so that the digest reveals nothing about the
 * sealing key. Throws an error for the operator if there is no key.
 */
export function keyedDigest(purpose: string, data: string | Uint8Array, key: SealingKeys[number] | undefined): string {
  if (!key) throw new Error("SEALING_KEYS is empty");
  const keys = derivedKeysOf(key);
  const derived = keys.get(purpose) ?? createHmac("sha256", key.bytes).update(purpose).digest();
  keys.set(purpose, derived);
  return createHmac("sha256", derived).update(data).digest("hex");
}

/** By purpose. */
const derivedKeysOf = rememberedBy((_key: SealingKeys[number]) => new Map<string, Uint8Array>());

/** Compares two digests in constant time. */
export function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
