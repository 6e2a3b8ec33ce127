// Shared access signatures of Azure Blob Storage ("Create a service SAS", REST API reference).
import type { AzureContainer } from "#shared/request/storage/storage-spec.ts";

/** The API version. It defines the fields below, their order, and the responses to requests. */
const VERSION = "2020-12-06";

/** A blob that a client may read (`r`), write (`w`) or delete (`d`) until a given time. */
export type BlobPermission = {
  readonly permissions: "r" | "w" | "d";
  /** Name of the blob in the container, not percent-encoded. */
  readonly blob: string;
  /** Ms since 1970; Azure counts in seconds. */
  readonly expiresAt: number;
};

/**
 * The query that permits reading one blob (Get Blob), or writing it (Put Blob, Put Block, Put Block List). `accountKey`
 * is in Base64. Throws if it is not valid Base64.
 */
export async function blobSas(
  { account, container, endpoint }: AzureContainer,
  { blob, permissions, expiresAt }: BlobPermission,
  accountKey: string,
): Promise<URLSearchParams> {
  const expiry = `${new Date(expiresAt).toISOString().slice(0, 19)}Z`;
  const protocol = endpoint.startsWith("https:") ? "https" : "https,http";
  const [resource, none] = ["b", ""];
  // In order: permissions, start, expiry, resource, identifier, IP, protocol, version, kind of resource, snapshot,
  // encryption scope, and five response headers.
  const resourceName = `/blob/${account}/${container}/${blob}`;
  const window = [permissions, none, expiry, resourceName, none, none, protocol, VERSION, resource, none, none];
  const text = [...window, none, none, none, none, none].join("\n");
  const signature = await hmacBase64(text, accountKey);
  return new URLSearchParams({ sv: VERSION, se: expiry, sr: resource, sp: permissions, spr: protocol, sig: signature });
}

async function hmacBase64(text: string, key: string): Promise<string> {
  const bytes = Uint8Array.from(atob(key), (char) => char.charCodeAt(0));
  const imported = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(signature)));
}
