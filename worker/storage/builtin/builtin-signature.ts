// Signed addresses for uploads to the service's own storage. The signature covers the method, the path and all the rest
// of the query, so what it was made for can be read from the address itself.
import * as z from "zod";
import type { LeaseId } from "#shared/ids.ts";
import { LeaseIdText } from "#shared/protocol/protocol.ts";
import { hex } from "../../hex.ts";
import type { SealingKeys } from "../sealed-secret.ts";
import { type BuiltinObject, objectAt, pathnameOf } from "./builtin-objects.ts";

/** One PUT that may be made: of a whole object, or of one part of a multipart upload. */
export type UploadGrant = {
  readonly object: BuiltinObject;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** What the object is served with; null: nothing. */
  readonly cacheControl: string | null;
  readonly part: { readonly uploadId: string; readonly number: number } | null;
  /** Ms since 1970. */
  readonly expiresAt: number;
  /** The lease that it ends with, and the index of the output; null only of addresses that earlier versions signed. */
  readonly holder: UploadHolder | null;
};

/** Who may store: a lease, while it is current and the output has not ended. */
export type UploadHolder = { readonly lease: LeaseId; readonly output: number };

const SIGNATURE = "&signature=";

/** The path and query of the grant's address. */
export async function signGrant(grant: UploadGrant, keys: SealingKeys): Promise<string> {
  const { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder } = grant;
  const query = new URLSearchParams({ expires: String(expiresAt), size: String(sizeBytes), type: contentType });
  if (cacheControl !== null) query.set("cache", cacheControl);
  if (part) {
    query.set("upload", part.uploadId);
    query.set("part", String(part.number));
  }
  if (holder) {
    query.set("lease", holder.lease);
    query.set("output", String(holder.output));
  }
  const target = `${pathnameOf(object)}?${query}`;
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
  return target + SIGNATURE + hex(await crypto.subtle.sign("HMAC", await signingKey(key.bytes), textOf(target)));
}

const Query = z.object({
  expires: z.coerce.number(),
  size: z.coerce.number(),
  type: z.string(),
  cache: z.string().optional(),
  upload: z.string().optional(),
  part: z.coerce.number().optional(),
  lease: LeaseIdText.optional(),
  output: z.coerce.number().optional(),
});

/** The grant that an address holds; null when it was not signed here, was changed, or has expired. */
export async function verifyGrant(
  { pathname, search }: URL,
  keys: SealingKeys,
  now: number,
): Promise<UploadGrant | null> {
  const [query = "", signature = ""] = search.split(SIGNATURE);
  const object = objectAt(pathname);
  if (!object || !(await isSigned(pathname + query, signature, keys))) return null;
  const parsed = Query.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (!parsed.success || parsed.data.expires <= now) return null;
  const { expires: expiresAt, size: sizeBytes, type: contentType, upload: uploadId, part: number } = parsed.data;
  const part = uploadId !== undefined && number !== undefined ? { uploadId, number } : null;
  const { lease, output, cache: cacheControl = null } = parsed.data;
  const holder = lease !== undefined && output !== undefined ? { lease, output } : null;
  return { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder };
}

/** Whether any of the keys signed this: the first signs, older ones are still good for what they signed. */
async function isSigned(target: string, signature: string, keys: SealingKeys): Promise<boolean> {
  const pairs = /^[0-9a-f]{64}$/.test(signature) ? (signature.match(/../g) ?? []) : [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  for (const key of keys) {
    // Compares in constant time.
    if (await crypto.subtle.verify("HMAC", await signingKey(key.bytes), bytes, textOf(target))) return true;
  }
  return false;
}

const textOf = (target: string): Uint8Array => new TextEncoder().encode(`PUT ${target}`);

/** A key of its own, derived from one that seals secrets (HKDF, RFC 5869): what is signed says nothing of what is sealed. */
async function signingKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode("copra upload address 1");
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return await crypto.subtle.deriveKey(derivation, secret, { name: "HMAC", hash: "SHA-256", length: 256 }, false, [
    "sign",
    "verify",
  ]);
}
