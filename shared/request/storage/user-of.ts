// Separates the user and password of a URL from the URL.
import type { AccessKeys } from "./storage-spec.ts";

/** Returns the URL without user and password, and both decoded; null if they are not percent-encoded UTF-8. */
export function userOf(href: string): { url: string; user: AccessKeys | null } | null {
  const { origin, pathname, search, username, password } = new URL(href);
  const url = origin + pathname + search;
  if (username === "" && password === "") return { url, user: null };
  try {
    return { url, user: { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) } };
  } catch {
    return null;
  }
}
