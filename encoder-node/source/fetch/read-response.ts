// Interprets the response to a range request of a transfer. Pure.
import type { IncomingHttpHeaders } from "undici/types/header.js";

export type ResponseReading =
  /** Bytes from `from`; `totalBytes` is the size of the whole file, null when the server does not send it. */
  | { kind: "bytes"; from: number; totalBytes: number | null }
  /** The response does not fit the requested range: start again without a range. */
  | { kind: "range-mismatch" }
  | { kind: "http-error" };

/** Facts about the file from earlier responses. */
export type FileVersion = {
  readonly totalBytes: number | null;
  /**
   * Identifies the version of the file: a strong ETag or a Last-Modified date. Null: ranges cannot be combined safely.
   */
  readonly validator: string | null;
};
export type KnownFile = FileVersion & { readonly received: number };

/** Interprets the response to a request for all bytes from `known.received`; a request from 0 has no range. */
export function readResponse(status: number, headers: IncomingHttpHeaders, known: KnownFile): ResponseReading {
  if (status === 200) return { kind: "bytes", from: 0, totalBytes: wholeNumber(headers["content-length"]) };
  if (status === 416 && known.received > 0) return { kind: "range-mismatch" };
  if (status !== 206) return { kind: "http-error" };
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers["content-range"])) ?? [];
  if (wholeNumber(first) !== known.received) return { kind: "range-mismatch" };
  const totalBytes = wholeNumber(total);
  const sameSize = known.totalBytes === null || totalBytes === null || totalBytes === known.totalBytes;
  // Some servers support Range but not If-Range: this recognizes their new version.
  const version = validatorOf(headers);
  const sameVersion = version === null || known.validator === null || version === known.validator;
  return sameSize && sameVersion ? { kind: "bytes", from: known.received, totalBytes } : { kind: "range-mismatch" };
}

/** The value for `If-Range`. Weak ETags do not guarantee equal bytes (RFC 9110 §13.1.5). */
export function validatorOf(headers: IncomingHttpHeaders): string | null {
  const etag = headers.etag;
  if (typeof etag === "string" && etag.startsWith('"')) return etag;
  const date = headers["last-modified"];
  return typeof date === "string" && etag === undefined ? date : null;
}

/** True if the host announces, or has sent, a range. */
export const supportsRanges = (status: number, headers: IncomingHttpHeaders): boolean =>
  status === 206 || /\bbytes\b/.test(String(headers["accept-ranges"]));

function wholeNumber(text: string | string[] | undefined): number | null {
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
