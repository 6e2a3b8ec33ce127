// What a source server's answer means for a download that stands at some byte. Pure.
import type { IncomingHttpHeaders } from "undici/types/header.js";

export type Reading =
  /** Bytes from `from` on; `totalBytes` is the whole file's size, null when the server does not say. */
  | { kind: "bytes"; from: number; totalBytes: number | null }
  /** The server did not do what a range means: start over without one. */
  | { kind: "misfit" }
  | { kind: "http-error" };

/** What is known of the file from earlier answers. */
export type Known = {
  readonly received: number;
  readonly totalBytes: number | null;
  /** Names this very version of the file: a strong ETag or a Last-Modified date. Null: no part can be added safely. */
  readonly validator: string | null;
};

/** Reads an answer to a request for all bytes from `known.received` on; 0 was asked without a range. */
export function readAnswer(status: number, headers: IncomingHttpHeaders, known: Known): Reading {
  if (status === 200) return { kind: "bytes", from: 0, totalBytes: wholeNumber(headers["content-length"]) };
  if (status === 416 && known.received > 0) return { kind: "misfit" };
  if (status !== 206) return { kind: "http-error" };
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers["content-range"])) ?? [];
  if (wholeNumber(first) !== known.received) return { kind: "misfit" };
  const totalBytes = wholeNumber(total);
  const sameSize = known.totalBytes === null || totalBytes === null || totalBytes === known.totalBytes;
  // Some servers heed Range and not If-Range: their new version gives itself away here.
  const version = validatorOf(headers);
  const sameVersion = version === null || known.validator === null || version === known.validator;
  return sameSize && sameVersion ? { kind: "bytes", from: known.received, totalBytes } : { kind: "misfit" };
}

/** The value for `If-Range`; weak ETags do not promise equal bytes (RFC 9110 §13.1.5). */
export function validatorOf(headers: IncomingHttpHeaders): string | null {
  const etag = headers.etag;
  if (typeof etag === "string" && etag.startsWith('"')) return etag;
  const date = headers["last-modified"];
  return typeof date === "string" && etag === undefined ? date : null;
}

function wholeNumber(text: string | string[] | undefined): number | null {
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
