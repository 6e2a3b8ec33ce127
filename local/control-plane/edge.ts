// Emulates Cloudflare's edge for requests that leave a Worker. The local system uses it with `npm start -- --edge`, and
// the tests use it, too.
import { addressAllowed } from "#shared/network/address-policy.ts";
import { type ConnectionFailure, connectionFailureOf } from "#shared/network/storage-connection.ts";

/** A response that the edge itself makes. */
export type EdgeResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const errorCode = (status: number, code: number): EdgeResponse => ({
  status,
  headers: { server: "cloudflare", "content-type": "text/plain; charset=UTF-8" },
  body: `error code: ${code}`,
});

/**
 * The edge's responses for unreachable servers (Cloudflare docs, "Cloudflare 5xx errors" and "Cloudflare 1xxx errors").
 */
const FAILURES: Readonly<Record<ConnectionFailure, EdgeResponse>> = {
  refused: errorCode(521, 521),
  "unknown host": errorCode(530, 1016),
  certificate: errorCode(526, 526),
  "no connection": errorCode(523, 523),
  timeout: errorCode(522, 522),
  broken: errorCode(520, 520),
  "ip address": errorCode(403, 1003),
  forbidden: errorCode(409, 1000),
};

/** Extensions that the edge may cache (Cloudflare docs, "Default cached file extensions"). */
const STATIC =
  /\.(?:7z|apk|avi|avif|bin|bmp|bz2|class|css|csv|dmg|docx?|ejs|eot|eps|exe|flac|gif|gz|ico|iso|jar|jpe?g|js|midi?|mkv|mp3|mp4|ogg|otf|pdf|pict|pls|png|pptx?|ps|rar|svgz?|swf|tar|tiff?|ttf|webm|webp|woff2?|xlsx?|zip|zst)$/i;

/**
 * The edge's response to a request to an IP address, because Workers connect to names only. Addresses of this machine
 * stand for names. Null: the request is sent.
 */
export function blockedAddress({ hostname }: URL): EdgeResponse | null {
  return addressAllowed(hostname.replace(/^\[|\]$/g, ""), "none") ? FAILURES["ip address"] : null;
}

/** A HEAD request for a cacheable file arrives as a GET request. */
export const edgeMethod = (method: string, { pathname }: URL): string =>
  method === "HEAD" && STATIC.test(pathname) ? "GET" : method;

/** The edge's response to a failed request. `isGuarded`: the name leads to an address that requests may not reach. */
export function edgeFailure(error: unknown, isGuarded: boolean): EdgeResponse {
  if (isGuarded) return FAILURES.forbidden;
  const code = error instanceof Error && "code" in error ? String(error.code) : null;
  return code === "EAI_AGAIN" ? FAILURES["unknown host"] : FAILURES[connectionFailureOf(code)];
}
