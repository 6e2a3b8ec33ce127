// The user and password that an address may carry, apart from the address.
import type { AccessKeys } from "./storage-spec.ts";

/** The address without them, and them, decoded; null when they are no percent-encoded UTF-8. */
export function userOf(address: string): { url: string; user: AccessKeys | null } | null {
  const { origin, pathname, search, username, password } = new URL(address);
  const url = origin + pathname + search;
  if (username === "" && password === "") return { url, user: null };
  try {
    return { url, user: { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) } };
  } catch {
    return null;
  }
}
