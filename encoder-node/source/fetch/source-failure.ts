// Failures of source transfers. Their messages contain the host and nothing else of the URL.

import type { IncomingHttpHeaders } from "undici/types/header.js";
import { AppError } from "#shared/errors.ts";
import { errorCode } from "#shared/log.ts";
import { retryAfterMs } from "#shared/network/http-headers.ts";

/** A failure that retries with the same URL cannot fix. Another attempt of the task, with a new URL, may succeed. */
export class FinalFailure extends AppError {}

/** An HTTP error status. */
export class HttpStatusFailure extends AppError {
  /** The server's `Retry-After`; null if it sends none. */
  readonly retryAfterMs: number | null;
  readonly statusCode: number;

  constructor(status: number, message: string, retryAfterMs: number | null) {
    super(`input_http_${status}`, message);
    this.statusCode = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const NAME_ERRORS = new Set(["ENOTFOUND", "EAI_NODATA", "EAI_NONAME"]);
const TIMEOUTS = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
const NO_WAY = new Set(["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

/**
 * Converts an error of a connection or transfer to AppError. Returns an AppError, or an AppError among the causes,
 * unchanged.
 */
export function connectionFailure(error: unknown, host: string): AppError {
  const known = causes(error).find((cause) => cause instanceof AppError);
  if (known) return known;
  const code =
    causes(error)
      .map(errorCode)
      .find((text) => text !== null) ?? "no reason given";
  const [kind, message] = explain(code);
  return new AppError(kind, `The host \`${host}\` of the input ${message}.`, { cause: error });
}

function explain(code: string): ["input_unreachable" | "input_host_not_found" | "input_timeout", string] {
  if (TIMEOUTS.has(code)) return ["input_timeout", "did not respond or stopped sending; try again later"];
  if (NAME_ERRORS.has(code)) return ["input_host_not_found", "cannot be found; check the URL"];
  // The name server did not respond: the name may exist.
  if (code === "EAI_AGAIN") return ["input_unreachable", "cannot be looked up; check the URL, or try again later"];
  if (code === "ECONNREFUSED") return ["input_unreachable", "refuses connections; check the URL and its port"];
  if (NO_WAY.has(code)) return ["input_unreachable", "cannot be reached from this node; check the URL"];
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)) {
    return ["input_unreachable", `has no valid certificate (${code}); fix it, or use a URL with a valid certificate`];
  }
  return ["input_unreachable", `closed the connection early (${code}); try again later`];
}

/** A body without a declared length whose connection was reset. */
export const connectionBroken = (host: string): AppError =>
  new AppError("input_unreachable", `The host \`${host}\` of the input closed the connection early; try again later.`);

/** A source at an address that is not allowed. */
export const addressNotAllowed = (host: string): AppError =>
  new AppError(
    "input_address_not_allowed",
    `The host \`${host}\` is not a public address; the input must be reachable over the Internet.`,
  );

/** Statuses with which S3 rejects requests that were signed for another region than the bucket's. */
const WRONG_REGION = new Set([301, 307, 400]);

/** The failure for any HTTP status except success. */
export function httpFailure({ statusCode: status, headers, host }: ErrorResponse): HttpStatusFailure {
  // S3 names the bucket's region in this header.
  const bucketRegion = headers["x-amz-bucket-region"];
  const named =
    WRONG_REGION.has(status) && /^[a-z0-9-]{1,64}$/.exec(typeof bucketRegion === "string" ? bucketRegion : "")?.[0];
  const advice = named ? `the bucket is in the region ${named}; set \`input.region\` to it` : hint(status);
  const message = `The host \`${host}\` of the input responded with HTTP ${status}: ${advice}.`;
  return new HttpStatusFailure(status, message, retryAfterMs(headers["retry-after"], Date.now()));
}

type ErrorResponse = { readonly statusCode: number; readonly headers: IncomingHttpHeaders; readonly host: string };

/** Statuses with which storages reject expired signatures and session tokens (Google Cloud and S3 with tokens: 400). */
const EXPIRED: ReadonlySet<string> = new Set(["input_http_400", "input_http_401", "input_http_403"]);
export const mayHaveExpired = ({ code }: AppError): boolean => EXPIRED.has(code);

/** A server that sent a part of a file, and then rejected the next request. */
export function refusedMidway({ statusCode, host }: Pick<ErrorResponse, "statusCode" | "host">): FinalFailure {
  const problem = `The host \`${host}\` of the input sent a part of the file and then responded with HTTP ${statusCode}`;
  return new FinalFailure("input_unreachable", `${problem}; if the URL is signed, let it expire later.`);
}

/** Another version cannot be used: bytes of the first version are in use already. */
export const changed = (host: string): FinalFailure =>
  new FinalFailure("input_unreachable", `The host \`${host}\` of the input changed the file while it was read.`);

/** A response that ended early. */
export const incomplete = (host: string, received: number, expected: number): AppError =>
  new AppError(
    "input_unreachable",
    `The host \`${host}\` of the input sent ${received} of ${expected} bytes; try again later.`,
  );

/** Responses of hosts to more connections of a client than they allow. */
const REJECTIONS: ReadonlySet<string> = new Set(["input_http_429", "input_http_503", "input_unreachable"]);
export const isRejection = (failure: AppError): boolean =>
  REJECTIONS.has(failure.code) && !(failure instanceof FinalFailure);

/** A source below the minimum rate. Its progress does not restore the retries. */
export class SlowSource extends AppError {}
export const tooSlow = (host: string, { bytes, windowMs }: { bytes: number; windowMs: number }): SlowSource =>
  new SlowSource(
    "input_timeout",
    `The host \`${host}\` of the input sends less than ${bytes / 1024} KiB in ${windowMs / 1000} s; use a faster host.`,
  );

/** A source that exceeds the time limit. */
export function tooLong(host: string, limitMs: number): FinalFailure {
  const hours = limitMs / 3_600_000;
  const message = `The host \`${host}\` of the input did not send the whole file within ${hours} hours; use a faster host.`;
  return new FinalFailure("input_timeout", message);
}

function hint(status: number): string {
  if (status === 401 || status === 403) return "access is denied; check the input's credentials or the URL's signature";
  if (status === 404 || status === 410) return "the file does not exist; check the URL, or the bucket and key";
  if (status === 429 || status >= 500) return "the server has an error or is overloaded; try again later";
  return "this is not a file that can be fetched; check the URL";
}

function causes(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}
