// Error messages for API keys that are missing, misplaced or unknown.
import { isApiKey, isNodeToken } from "#shared/ids.ts";

const HOW = "send the API key as the user name of HTTP Basic authentication, as `curl -u KEY:` does";

/** The error message for an `Authorization` header without a valid API key. Repeats nothing of the header. */
export function apiKeyError(header: string | undefined): string {
  if (!header) return `The API key is missing; ${HOW}`;
  if (/^bearer\b/i.test(header)) return `Bearer tokens are not supported here; ${HOW}`;
  const pair = basicPair(header);
  if (!pair) return `The Authorization header is not valid HTTP Basic authentication; ${HOW}`;
  const [user, password] = pair;
  if (isApiKey(user)) return "The API key is unknown; it may have been revoked, or belong to another service";
  if (isApiKey(password)) return `The API key is in the password; ${HOW}`;
  if (isNodeToken(user)) return `The user name is a node token; ${HOW}`;
  return `The user name is not an API key; API keys start with \`k-\`; ${HOW}`;
}

/** Longer headers are not from clients. */
const MAX_CHARS = 512;

/** User and password of a Basic header (RFC 7617 §2); null for any other header. */
export function basicPair(header: string | undefined): [user: string, password: string] | null {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(header ?? "")?.[1];
  if (!encoded || encoded.length > MAX_CHARS) return null;
  try {
    const [user = "", ...password] = atob(encoded).split(":");
    return [user, password.join(":")];
  } catch {
    return null;
  }
}
