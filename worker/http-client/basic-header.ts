import type { AccessKeys } from "#shared/request/storage/storage-spec.ts";

/** The value of an Authorization header for Basic authentication (RFC 7617), in UTF-8. */
export function basicHeader({ accessKeyId, secretAccessKey }: AccessKeys): string {
  const bytes = new TextEncoder().encode(`${accessKeyId}:${secretAccessKey}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
