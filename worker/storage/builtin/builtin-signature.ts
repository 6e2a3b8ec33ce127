// Signed URLs for uploads to the service's own storage, and for downloads of nodes from it. The signature covers the
// method, the path and the rest of the query, so the URL itself states the permission.
import * as z from "zod";
import { LeaseIdText } from "#shared/protocol/leases.ts";
import { hex } from "../../crypto/bytes.ts";
import type { SealingKeys } from "../../crypto/sealed-secret.ts";
import type { UploadHolder } from "../object-store.ts";
import { type BuiltinObject, objectAt, pathnameOf } from "./builtin-objects.ts";

/** Permission for one PUT: of a whole object, or of a part of a multipart upload. */
export type SignedPut = {
  readonly object: BuiltinObject;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** The Cache-Control header of the served object; null: none. */
  readonly cacheControl: string | null;
  readonly part: { readonly uploadId: string; readonly number: number } | null;
  /** Ms since 1970. */
  readonly expiresAt: number;
  /** The lease that ends the permission, and the index of the output. */
  readonly holder: UploadHolder;
};

const SIGNATURE = "&signature=";
type Method = "GET" | "PUT";

/** The path and query of the signed URL. */
export async function signPut(put: SignedPut, keys: SealingKeys): Promise<string> {
  const { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder } = put;
  const query = new URLSearchParams({ expires: String(expiresAt), size: String(sizeBytes), type: contentType });
  if (cacheControl !== null) query.set("cache", cacheControl);
  if (part) {
    query.set("upload", part.uploadId);
    query.set("part", String(part.number));
  }
  query.set("lease", holder.lease);
  query.set("output", String(holder.output));
  return await signTarget("PUT", `${pathnameOf(object)}?${query}`, keys);
}

/** A path with its query, signed for one method. */
export async function signTarget(method: Method, target: string, keys: SealingKeys): Promise<string> {
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
  const signature = await crypto.subtle.sign("HMAC", await signingKey(key.bytes), textOf(method, target));
  return target + SIGNATURE + hex(signature);
}

/** The query of a URL that the service signed for this method; else null. */
export async function verifyTarget(
  method: Method,
  { pathname, search }: URL,
  keys: SealingKeys,
): Promise<URLSearchParams | null> {
  const [query = "", signature = ""] = search.split(SIGNATURE);
  return (await isSigned(textOf(method, pathname + query), signature, keys)) ? new URLSearchParams(query) : null;
}

const Query = z.object({
  expires: z.coerce.number(),
  size: z.coerce.number(),
  type: z.string(),
  cache: z.string().optional(),
  upload: z.string().optional(),
  part: z.coerce.number().optional(),
  lease: LeaseIdText,
  output: z.coerce.number(),
});

/** The PUT that a URL permits; null if the service did not sign the URL, if it was changed, or if it has expired. */
export async function verifyPut(url: URL, keys: SealingKeys, now: number): Promise<SignedPut | null> {
  const object = objectAt(url.pathname);
  const query = object && (await verifyTarget("PUT", url, keys));
  if (!object || !query) return null;
  const parsed = Query.safeParse(Object.fromEntries(query));
  if (!parsed.success || parsed.data.expires <= now) return null;
  const { expires: expiresAt, size: sizeBytes, type: contentType, upload: uploadId, part: number } = parsed.data;
  const part = uploadId !== undefined && number !== undefined ? { uploadId, number } : null;
  const { lease, output, cache: cacheControl = null } = parsed.data;
  return { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder: { lease, output } };
}

/** True if any of the keys signed the target. The first key signs new URLs; signatures of older keys stay valid. */
async function isSigned(target: Uint8Array, signature: string, keys: SealingKeys): Promise<boolean> {
  const pairs = /^[0-9a-f]{64}$/.test(signature) ? (signature.match(/../g) ?? []) : [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  for (const key of keys) {
    // Compares in constant time.
    if (await crypto.subtle.verify("HMAC", await signingKey(key.bytes), bytes, target)) return true;
  }
  return false;
}

const textOf = (method: Method, target: string): Uint8Array => new TextEncoder().encode(`${method} ${target}`);

/** Derived from a sealing key (HKDF, RFC 5869), so that signatures reveal nothing about sealed secrets. */
async function signingKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode("copra upload address 1");
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return await crypto.subtle.deriveKey(derivation, secret, { name: "HMAC", hash: "SHA-256", length: 256 }, false, [
    "sign",
    "verify",
  ]);
}
