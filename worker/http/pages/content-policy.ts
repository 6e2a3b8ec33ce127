// The Content Security Policy of the dashboard's pages (CSP Level 3).
import type { AllowPrivate } from "#shared/network/address-policy.ts";

/** Builds a policy from its directives. */
export const contentPolicy = (directives: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(" "))
    .join("; ");

/**
 * The origins from which pages may load sources and outputs: all origins over HTTPS, and plain HTTP only where the
 * operator allows the service such addresses. `own` is the service's own origin: `'self'` matches nothing in a
 * sandboxed frame.
 */
export function mediaOrigins(allowPrivate: AllowPrivate, own: string): string[] {
  const { networks, origins } =
    typeof allowPrivate === "string" ? { networks: allowPrivate, origins: [] } : allowPrivate;
  const plain = { none: [], loopback: ["http://127.0.0.1:*", "http://localhost:*"], all: ["http:"] }[networks];
  return [...new Set(["https:", ...plain, ...origins, ...(own.startsWith("http:") ? [own] : [])])];
}

/** The policy of the dashboard: its own files and API, and images of outputs. No script creates HTML from text. */
export const shellPolicy = (allowPrivate: AllowPrivate, own: string): string =>
  contentPolicy({
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "font-src": ["'self'"],
    "img-src": ["'self'", "data:", ...mediaOrigins(allowPrivate, own)],
    "connect-src": ["'self'"],
    "frame-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
    "require-trusted-types-for": ["'script'"],
  });

/**
 * The policy of the player's page, which reads media and playlists of any site. The page has no origin, which keeps it
 * from the session and the API.
 */
export const playerPolicy = (allowPrivate: AllowPrivate, own: string): string => {
  const media = mediaOrigins(allowPrivate, own);
  return contentPolicy({
    sandbox: ["allow-scripts"],
    "default-src": ["'none'"],
    "script-src": ["'self'", own],
    "style-src": ["'self'", own],
    "font-src": ["'self'", own],
    "img-src": ["data:", ...media],
    // Streams are played from blob: URLs. So is a file that the person chose.
    "media-src": ["blob:", ...media],
    "connect-src": media,
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'self'"],
  });
};
