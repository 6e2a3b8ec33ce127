import type { AccessKeys } from "#shared/request/storage/storage-spec.ts";

/** The value of an Authorization header: user and password as RFC 7617 has them, in UTF-8. */
export function basicHeader({ accessKeyId, secretAccessKey }: AccessKeys): string {
  const bytes = new TextEncoder().encode(`${accessKeyId}:${secretAccessKey}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
