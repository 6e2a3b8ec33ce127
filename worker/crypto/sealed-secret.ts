// Encrypts secrets at rest: AES-256-GCM with a key of the operator, bound to a context.
import { AppError } from "#shared/errors.ts";

/** The first key seals. All keys unseal, so that the operator can rotate keys. */
export type SealingKeys = readonly { id: string; bytes: Uint8Array<ArrayBuffer> }[];

/** Parses keys in the form `<id>:<base64 of 32 bytes>`, separated by commas. Throws an error for the operator. */
export function parseSealingKeys(text: string): SealingKeys {
  return text.split(",").map((entry) => {
    const [id = "", encoded = ""] = entry.trim().split(":");
    const bytes = fromBase64(encoded);
    if (!/^\w{1,16}$/.test(id) || bytes.length !== 32) {
      throw new Error("SEALING_KEYS must be <id>:<base64 of 32 bytes>, several separated by commas");
    }
    return { id, bytes };
  });
}

const FORMAT = "s1";

/** Seals text as `s1.<key id>.<base64 of nonce and ciphertext>`, which can be unsealed only with the same context. */
export async function seal(plain: string, context: string, keys: SealingKeys): Promise<string> {
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const algorithm = { name: "AES-GCM", iv: nonce, additionalData: associated(key.id, context) };
  const sealed = await crypto.subtle.encrypt(algorithm, await importKey(key.bytes), new TextEncoder().encode(plain));
  return `${FORMAT}.${key.id}.${toBase64(new Uint8Array([...nonce, ...new Uint8Array(sealed)]))}`;
}

/**
 * Reverses `seal`. Throws AppError(sealing_key_missing) when the key is not in SEALING_KEYS, and an error when the
 * context differs or the text was changed.
 */
export async function unseal(sealed: string, context: string, keys: SealingKeys): Promise<string> {
  const [format, keyId = "", payload = ""] = sealed.split(".");
  const key = keys.find(({ id }) => id === keyId);
  if (format !== FORMAT || !key) {
    throw new AppError(
      "sealing_key_missing",
      `The service no longer has the sealing key \`${keyId}\`: its operator must add it to SEALING_KEYS again`,
    );
  }
  const bytes = fromBase64(payload);
  const algorithm = { name: "AES-GCM", iv: bytes.slice(0, 12), additionalData: associated(keyId, context) };
  const plain = await crypto.subtle.decrypt(algorithm, await importKey(key.bytes), bytes.slice(12));
  return new TextDecoder().decode(plain);
}

/** The same secret, sealed with the newest key; unchanged if it already is. Throws like `unseal`. */
export async function reseal(sealed: string, context: string, keys: SealingKeys): Promise<string> {
  if (sealed.split(".")[1] === keys[0]?.id) return sealed;
  return await seal(await unseal(sealed, context, keys), context, keys);
}

const associated = (keyId: string, context: string): Uint8Array =>
  new TextEncoder().encode(`${FORMAT}|${keyId}|${context}`);
const imported = new WeakMap<Uint8Array, CryptoKey>();
async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const key =
    imported.get(bytes) ?? (await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]));
  imported.set(bytes, key);
  return key;
}
/** In portions: an argument for each byte of a template would exceed the stack. */
const toBase64 = (bytes: Uint8Array): string => {
  const portions = Array.from({ length: Math.ceil(bytes.length / 8192) }, (_, at) =>
    String.fromCharCode(...bytes.subarray(at * 8192, (at + 1) * 8192)),
  );
  return btoa(portions.join(""));
};
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
