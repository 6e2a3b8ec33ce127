// Shared access signatures of Azure Blob Storage ("Create a service SAS", REST API reference).
import type { StorageOf } from "#shared/request/storage/storage-spec.ts";

/** The version that fixes the fields and their order below, and that requests are answered by. */
const VERSION = "2020-12-06";

/** What a signature lets its holder do, and until when. */
export type BlobGrant = {
  /** As it is named in the container, not percent-encoded. */
  readonly blob: string;
  /** Ms since 1970; Azure counts in seconds. */
  readonly expiresAt: number;
};

/**
 * The query that lets its holder write one blob: put it whole, put blocks of it, commit a list of blocks.
 * `accountKey` is in Base64. Throws when it is not.
 */
export async function writeSas(
  storage: StorageOf<"azure">,
  grant: BlobGrant,
  accountKey: string,
): Promise<URLSearchParams> {
  const { account, container, endpoint } = storage;
  const expiry = `${new Date(grant.expiresAt).toISOString().slice(0, 19)}Z`;
  const protocol = endpoint.startsWith("https:") ? "https" : "https,http";
  const [permissions, resource, none] = ["w", "b", ""];
  // In order: permissions, start, expiry, resource, identifier, IP, protocol, version, kind of resource, snapshot,
  // encryption scope, and five headers of answers.
  const resourceName = `/blob/${account}/${container}/${grant.blob}`;
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
