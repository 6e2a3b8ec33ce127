// Connection failures of storages, in messages that repeat only the origin of the URL. Pure.
import { AppError } from "../errors.ts";

/** Why the connection failed. Except `timeout` and `broken`, retrying rarely helps. */
export type ConnectionFailure = "refused" | "unknown host" | "certificate" | "no connection" | "timeout" | "broken";

/** How the request identifies the storage: by `storage.url` (an upload URL), or by a service with a bucket. */
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

/** The failure `storage_unreachable` of a request to this URL; its message repeats only scheme, host and port. */
export function storageUnreachable(
  url: string,
  reason: ConnectionFailure,
  place: StoragePlace,
  cause?: unknown,
): AppError {
  const { origin } = new URL(url);
  const subject = place === "form" ? `The upload URL at ${origin}` : `The storage at ${origin}`;
  const field = place === "form" ? "`storage.url`" : "`storage.endpoint`";
  return new AppError("storage_unreachable", `${subject} ${SENTENCES[reason](field)}.`, { cause });
}

const SENTENCES = {
  refused: (field) => `refuses connections; check ${field} and its port`,
  "unknown host": (field) =>
    `does not exist in DNS; check the host in ${field}, or the bucket and the region that it contains`,
  certificate: (field) => `has no valid certificate; check ${field}, or renew the certificate`,
  "no connection": (field) =>
    `refuses connections, does not exist in DNS, or has no valid certificate; check ${field} and its port`,
  timeout: (field) => `does not respond; check ${field}, or try again later`,
  broken: () => "closed the connection before it responded; try again later",
} as const satisfies Record<ConnectionFailure, (field: string) => string>;
