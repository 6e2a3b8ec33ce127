// Web Crypto without threads and with seeded randomness. Results are ready after a microtask, so that virtual time need
// not wait for them. Random bytes come from a seed, so that runs are repeatable.

import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual as isSame } from "node:crypto";
import { randomOf } from "#shared/testing/random.ts";

type Bytes = ArrayBuffer | Uint8Array;
type Key = { readonly raw: Buffer; readonly hash: string };
type Named = { readonly name: string; readonly hash?: string | Named; readonly iv?: Uint8Array };

const TAG_BYTES = 16;
const UUID = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/;
const view = (bytes: Bytes): Buffer =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const exact = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer;
const nameOf = (algorithm: string | Named): string =>
  (typeof algorithm === "string" ? algorithm : algorithm.name).replace("-", "").toLowerCase();

const operations = {
  digest: async (algorithm: string | Named, data: Bytes) =>
    exact(createHash(nameOf(algorithm)).update(view(data)).digest()),
  importKey: async (_format: string, bytes: Bytes, algorithm: string | Named): Promise<Key> => {
    const hash = typeof algorithm === "string" ? "sha256" : nameOf(algorithm.hash ?? "sha256");
    return { raw: Buffer.from(view(bytes)), hash };
  },
  sign: async (_algorithm: unknown, key: Key, data: Bytes) =>
    exact(createHmac(key.hash, key.raw).update(view(data)).digest()),
  verify: async (_algorithm: unknown, key: Key, signature: Bytes, data: Bytes) => {
    const right = createHmac(key.hash, key.raw).update(view(data)).digest();
    return right.length === signature.byteLength && isSame(right, view(signature));
  },
  encrypt: async ({ iv }: Named, { raw }: Key, data: Bytes) => {
    const cipher = createCipheriv(`aes-${8 * raw.length}-gcm` as "aes-256-gcm", raw, iv ?? new Uint8Array(12));
    return exact(Buffer.concat([cipher.update(view(data)), cipher.final(), cipher.getAuthTag()]));
  },
  decrypt: async ({ iv }: Named, { raw }: Key, data: Bytes) => {
    const bytes = view(data);
    const cipher = createDecipheriv(`aes-${8 * raw.length}-gcm` as "aes-256-gcm", raw, iv ?? new Uint8Array(12));
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return exact(Buffer.concat([cipher.update(bytes.subarray(0, -TAG_BYTES)), cipher.final()]));
  },
  timingSafeEqual: (a: Bytes, b: Bytes) => a.byteLength === b.byteLength && isSame(view(a), view(b)),
};

/** Replaces the cryptography and the randomness of this process. Returns the source of randomness. */
export function installCrypto(seed: number): () => number {
  const random = randomOf(seed);
  for (const [name, value] of Object.entries(operations)) {
    Object.defineProperty(crypto.subtle, name, { value, configurable: true });
  }
  const fill = <Target extends Uint8Array>(target: Target): Target => {
    for (let at = 0; at < target.length; at++) target[at] = 256 * random();
    return target;
  };
  Object.defineProperty(crypto, "getRandomValues", { value: fill, configurable: true });
  const uuid = (): string =>
    Buffer.from(fill(new Uint8Array(16)))
      .toString("hex")
      .replace(UUID, "$1-$2-4$3-8$4-$5");
  Object.defineProperty(crypto, "randomUUID", { value: uuid, configurable: true });
  Math.random = random;
  return random;
}
