// Why a storage gave no answer at all, in a sentence that names its origin and nothing else of the URL. Pure.
import { AppError } from "../errors.ts";

/** What became of the connection. All but `timeout` and `broken` seldom pass by themselves. */
export type NoAnswer = "refused" | "unknown host" | "certificate" | "no connection" | "timeout" | "broken";

/** How the client names the place: by `storage.url` (an upload URL), or by a service with a bucket. */
export type StoragePlace = "bucket" | "form";

const NAME_ERRORS = new Set(["ENOTFOUND", "EAI_NODATA", "EAI_NONAME"]);
const TIMEOUTS = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Reads the code of a connection error of Node or undici; null when there was none. */
export function noAnswerOf(code: string | null): NoAnswer {
  if (code === null) return "broken";
  if (code === "ECONNREFUSED") return "refused";
  if (NAME_ERRORS.has(code)) return "unknown host";
  if (TIMEOUTS.has(code)) return "timeout";
  return /CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code) ? "certificate" : "broken";
}

/** The failure `storage_unreachable` of a request to this URL, of which only scheme, host and port are quoted. */
export function storageUnreachable(url: string, why: NoAnswer, place: StoragePlace, cause?: unknown): AppError {
  const { origin } = new URL(url);
  const subject = place === "form" ? `The upload URL at ${origin}` : `The storage at ${origin}`;
  const field = place === "form" ? "`storage.url`" : "`storage.endpoint`";
  return new AppError("storage_unreachable", `${subject} ${SENTENCES[why](field)}.`, { cause });
}

const SENTENCES = {
  refused: (field) => `refuses connections; check ${field} and its port`,
  "unknown host": (field) => `cannot be found; check the host in ${field}, or the bucket and region that it is made of`,
  certificate: (field) => `has no valid certificate; check ${field}, or renew the certificate`,
  "no connection": (field) =>
    `refuses connections, cannot be found, or has no valid certificate; check ${field} and its port`,
  timeout: (field) => `does not answer; check ${field}, or try again later`,
  broken: () => "closed the connection before it answered; try again later",
} as const satisfies Record<NoAnswer, (field: string) => string>;
