// The state of the builder as the fragment of a URL: readable, about as long as the JSON, and without secrets.
import { type Json, withoutSecrets } from "./secrets.ts";

/** JSON's most frequent characters need an escape in URLs. Each is exchanged for a character that needs no escape. */
const EXCHANGED = new Map(
  [...'"{}[] '].flatMap((one, at) => {
    const other = "'()!~+"[at] ?? "";
    return [
      [one, other],
      [other, one],
    ] as const;
  }),
);
const exchange = (text: string): string => [...text].map((character) => EXCHANGED.get(character) ?? character).join("");

/** The characters that a fragment may contain unescaped (RFC 3986 §3.5), without the separators `&` and `=`. */
const PLAIN: Readonly<Record<string, string>> = {
  "%3A": ":",
  "%2F": "/",
  "%3F": "?",
  "%40": "@",
  "%24": "$",
  "%2C": ",",
  "%3B": ";",
  "%2B": "+",
};
const packed = (value: unknown): string =>
  encodeURIComponent(exchange(JSON.stringify(value))).replace(/%[0-9A-F]{2}/g, (code) => PLAIN[code] ?? code);

function unpacked(text: string | undefined): Json | null {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(exchange(decodeURIComponent(text)));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

/**
 * The fragment of a page that shows this request: `/new${hashOfRequest(request)}`. It leaves out credentials (by their
 * names, in any place), keys, and users, passwords and queries of URLs.
 */
export const hashOfRequest = (request: object): string => `#request=${packed(withoutSecrets(request as Json))}`;

/** The request in a fragment; null if there is no valid request. */
export const requestOfHash = (hash: string): Json | null => unpacked(/^#?request=([^&]*)/.exec(hash)?.[1]);
