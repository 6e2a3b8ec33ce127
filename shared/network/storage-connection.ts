// Connection failures of storages, in messages that repeat only the origin of the URL. Pure.
import { AppError } from "../errors.ts";

/**
 * Reason why the connection failed. Except for `timeout` and `broken`, retrying rarely helps. Only on Cloudflare: `ip
 * address` (Workers connect to names) and `forbidden` (by the zone of the host).
 */
export type ConnectionFailure = keyof typeof FACTS;

/** Kind of storage in the request: `storage.url` (an upload URL), or a service with a bucket. */
export type StoragePlace = "bucket" | "form";

const NAME_ERRORS = new Set(["ENOTFOUND", "EAI_NODATA", "EAI_NONAME"]);
const TIMEOUTS = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Classifies the error code of Node or undici; null if there was none. */
export function connectionFailureOf(code: string | null): ConnectionFailure {
  if (code === null) return "broken";
  if (code === "ECONNREFUSED") return "refused";
  if (NAME_ERRORS.has(code)) return "unknown host";
  if (TIMEOUTS.has(code)) return "timeout";
  return /CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code) ? "certificate" : "broken";
}

/**
 * Returns the failure `storage_unreachable` of a request to this URL. Its message repeats only scheme, host and port.
 */
export function storageUnreachable(
  url: string,
  reason: ConnectionFailure,
  place: StoragePlace,
  cause?: unknown,
): AppError {
  const { origin } = new URL(url);
  const subject = place === "form" ? `The upload URL at ${origin}` : `The storage at ${origin}`;
  const field = place === "form" ? "`storage.url`" : "`storage.endpoint`";
  return new AppError("storage_unreachable", `${subject} ${FACTS[reason]}; ${ADVICE[reason](field)}.`, { cause });
}

/** Predicates that describe each failure; the name of the other side precedes them. */
export const FACTS = {
  refused: "refuses connections",
  "unknown host": "does not exist in DNS",
  certificate: "has no valid certificate",
  "no connection": "refuses connections, does not exist in DNS, or has no valid certificate",
  timeout: "does not respond",
  broken: "closed the connection before it responded",
  "ip address": "has an IP address for a host, and this service, which runs on Cloudflare, connects only to names",
  forbidden: "is blocked by settings of its Cloudflare zone",
} as const;

const ADVICE = {
  refused: (field) => `check ${field} and its port`,
  "unknown host": (field) => `check the host in ${field}, or the bucket and the region that it contains`,
  certificate: (field) => `check ${field}, or renew the certificate`,
  "no connection": (field) => `check ${field} and its port`,
  timeout: (field) => `check ${field}, or try again later`,
  broken: () => "try again later",
  "ip address": (field) => `use a host name in ${field}`,
  forbidden: () => "check the DNS records and the security rules of that zone",
} as const satisfies Record<ConnectionFailure, (field: string) => string>;
