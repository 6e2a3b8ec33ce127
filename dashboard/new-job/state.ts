// The state of the builder as the fragment of a URL: readable, about as long as the JSON, and without secrets.
import { type Json, withoutSecrets } from "./secrets.ts";

/** The source that the plan assumes. The service's defaults fill missing members. */
export type AssumedSource = {
  readonly width?: number;
  readonly height?: number;
  readonly fps?: number;
  readonly duration?: number;
  readonly rotation?: 0 | 90 | 180 | 270;
  readonly audio?: boolean;
};

export type BuilderState = {
  /** A request in progress: any member may be missing or invalid. */
  readonly request: Json;
  readonly source: AssumedSource;
};

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
export function hashOfRequest(request: object, source: AssumedSource = {}): string {
  const assumed = Object.keys(source).length === 0 ? "" : `&source=${packed(source)}`;
  return `#request=${packed(withoutSecrets(request as Json))}${assumed}`;
}

/** The state in a fragment; null if there is no valid state. */
export function stateOfHash(hash: string): BuilderState | null {
  const parts = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .map((part) => {
        const at = part.indexOf("=");
        return [part.slice(0, at), part.slice(at + 1)] as const;
      }),
  );
  const request = unpacked(parts.get("request"));
  if (request === null) return null;
  return { request, source: assumedSource(unpacked(parts.get("source")) ?? {}) };
}

/** The valid members of an assumed source: somebody may have edited the URL by hand. */
export function assumedSource({ width, height, fps, duration, rotation, audio }: Json): AssumedSource {
  const positive = (value: unknown): value is number =>
    typeof value === "number" && Number.isFinite(value) && value > 0;
  return {
    ...(positive(width) ? { width: Math.round(width) } : {}),
    ...(positive(height) ? { height: Math.round(height) } : {}),
    ...(positive(fps) ? { fps } : {}),
    ...(positive(duration) ? { duration } : {}),
    ...(rotation === 90 || rotation === 180 || rotation === 270 ? { rotation } : {}),
    ...(typeof audio === "boolean" ? { audio } : {}),
  };
}
