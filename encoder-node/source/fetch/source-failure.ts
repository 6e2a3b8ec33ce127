// What went wrong between this node and a source's server, in words that name the host and nothing else of the URL.
import type { IncomingHttpHeaders } from "undici/types/header.js";
import { AppError } from "#shared/errors.ts";
import { retryAfterMs } from "#shared/network/retry-after.ts";

/** To ask the same address again is no use; another attempt, which is given its address anew, may do better. */
export class DeadEnd extends AppError {}

/** The answer of a server that is there, and has no file for us. */
export class HttpRefusal extends AppError {
  /** What it asks to be left alone for; null when it does not say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, message: string, retryAfterMs: number | null) {
    super(`input_http_${status}`, message);
    this.retryAfterMs = retryAfterMs;
  }
}

const NAME_ERRORS = new Set(["ENOTFOUND", "EAI_NODATA", "EAI_NONAME"]);
const TIMEOUTS = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
const NO_WAY = new Set(["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

/** A failed connection or transfer as AppError; one that is AppError already, or was caused by one, stays what it is. */
export function connectionFailure(error: unknown, host: string): AppError {
  const refusal = causes(error).find((cause) => cause instanceof AppError);
  if (refusal) return refusal;
  const code =
    causes(error)
      .map(codeOf)
      .find((text) => text !== null) ?? "no reason given";
  const [kind, words] = explain(code);
  return new AppError(kind, `The host \`${host}\` of the input ${words}.`, { cause: error });
}

function explain(code: string): ["input_unreachable" | "input_host_not_found" | "input_timeout", string] {
  if (TIMEOUTS.has(code)) return ["input_timeout", "did not answer or stopped sending; try again later"];
  if (NAME_ERRORS.has(code)) return ["input_host_not_found", "cannot be found; check the URL"];
  // The name server gave no answer, which says nothing of the name.
  if (code === "EAI_AGAIN") return ["input_unreachable", "cannot be looked up; check the URL, or try again later"];
  if (code === "ECONNREFUSED") return ["input_unreachable", "refuses connections; check the URL and its port"];
  if (NO_WAY.has(code)) return ["input_unreachable", "cannot be reached from this node; check the URL"];
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)) {
    return [
      "input_unreachable",
      `has no valid certificate (${code}); mend it, or use a URL whose certificate is valid`,
    ];
  }
  return ["input_unreachable", `broke the connection off (${code}); try again later`];
}

/** A body without a length whose connection did not end but break. */
export const brokenOff = (host: string): AppError =>
  new AppError("input_unreachable", `The host \`${host}\` of the input broke the connection off; try again later.`);

/** A source at an address that must not be reached. */
export const addressRefusal = (host: string): AppError =>
  new AppError(
    "input_address_not_allowed",
    `The host \`${host}\` is not a public address; the input must be reachable over the Internet.`,
  );

/** By which S3 refuses requests that were signed for another region than the bucket's. */
const WRONG_REGION = new Set([301, 307, 400]);

/** A source server's refusal: any HTTP status but success. */
export function httpFailure({ statusCode: status, headers, host }: Refused): HttpRefusal {
  // By this header S3 says where a bucket lies.
  const bucketRegion = headers["x-amz-bucket-region"];
  const named =
    WRONG_REGION.has(status) && /^[a-z0-9-]{1,64}$/.exec(typeof bucketRegion === "string" ? bucketRegion : "")?.[0];
  const advice = named ? `the bucket lies in ${named}; set \`input.region\` to that` : hint(status);
  const message = `The host \`${host}\` of the input answered with HTTP ${status}: ${advice}.`;
  return new HttpRefusal(status, message, retryAfterMs(headers["retry-after"], Date.now()));
}

type Refused = { readonly statusCode: number; readonly headers: IncomingHttpHeaders; readonly host: string };

/** With which storages answer signatures and session tokens that have expired (Google Cloud and S3 with tokens: 400). */
const EXPIRED: ReadonlySet<string> = new Set(["input_http_400", "input_http_401", "input_http_403"]);
export const mayBeExpired = ({ code }: AppError): boolean => EXPIRED.has(code);

/** A server that gave a part of a file, and then no more. */
export const lockedOut = ({ statusCode, host }: Refused): DeadEnd =>
  new DeadEnd(
    "input_unreachable",
    `The host \`${host}\` of the input gave a part of it and then refused (HTTP ${statusCode}); if the URL is signed, give it a longer life.`,
  );

/** A source that comes in drops: what it brought earns it no further tries. */
export class TooSlow extends AppError {}
export const tooSlow = (host: string, { bytes, windowMs }: { bytes: number; windowMs: number }): TooSlow =>
  new TooSlow(
    "input_timeout",
    `The host \`${host}\` of the input sends less than ${bytes / 1024} KiB in ${windowMs / 1000} s; use a faster one.`,
  );

/** A source that goes on and on. */
export const tooLong = (host: string, limitMs: number): DeadEnd =>
  new DeadEnd(
    "input_timeout",
    `The host \`${host}\` of the input has not sent all of it within ${limitMs / 3_600_000} hours; use a faster one.`,
  );

function hint(status: number): string {
  if (status === 401 || status === 403)
    return "access is refused; check the input's credentials or the URL's signature";
  if (status === 404 || status === 410) return "there is no such file; check the URL, or the bucket and key";
  if (status === 429 || status >= 500) return "the server is in trouble or busy; try again later";
  return "this is no file that can be fetched; check the URL";
}

function causes(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
