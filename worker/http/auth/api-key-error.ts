// What is said to a client whose API key is not there, not where it belongs, or not known.
import { isApiKey, isNodeToken } from "#shared/ids.ts";

const HOW = "send the API key as the user name of HTTP Basic authentication, as `curl -u KEY:` does";

/** One sentence on an `Authorization` header that lets nobody through. It repeats nothing of the header. */
export function keyFault(header: string | undefined): string {
  if (!header) return `The API key is missing; ${HOW}`;
  if (/^bearer\b/i.test(header)) return `Bearer is not taken here; ${HOW}`;
  const pair = basicPair(header);
  if (!pair) return `The Authorization header is no HTTP Basic authentication; ${HOW}`;
  const [user, password] = pair;
  if (isApiKey(user)) return "This API key is not known; it may have been revoked, or belong to another service";
  if (isApiKey(password)) return `The API key is in the password; it goes into the user name: ${HOW}`;
  if (isNodeToken(user)) return `This is the token of a node; ${HOW}`;
  return `The user name is no API key, which begins with \`k-\`; ${HOW}`;
}

/** A header is short: what is longer is none that clients send. */
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
