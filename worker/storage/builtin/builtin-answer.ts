// The response to a GET of a stored object: conditions and ranges (RFC 9110, sections 13 and 14). Pure.
import { type ByteRange, parseRange } from "#shared/network/http-headers.ts";

export type StoredObject = {
  readonly sizeBytes: number;
  /** A strong ETag, with its quotes. */
  readonly etag: string;
  readonly uploadedAt: Date;
};

export type ObjectResponse =
  | { readonly status: 200 | 304 | 412 | 416 }
  /** A range of the object. */
  | { readonly status: 206; readonly range: ByteRange };

/** Evaluates the request's headers in the order of RFC 9110, section 13.2.2. */
export function responseTo(headers: Headers, object: StoredObject): ObjectResponse {
  const ifMatch = headers.get("if-match");
  if (ifMatch !== null && !names(ifMatch, object.etag)) return { status: 412 };
  if (ifMatch === null && isOlder(headers.get("if-unmodified-since"), object)) return { status: 412 };
  if (isUnchanged(headers, object)) return { status: 304 };
  const range = isCurrent(headers.get("if-range"), object) ? parseRange(headers.get("range"), object.sizeBytes) : null;
  if (range === "beyond") return { status: 416 };
  return range ? { status: 206, range } : { status: 200 };
}

/** True if a list of entity tags contains this tag, or is `*`. */
const names = (list: string, etag: string): boolean =>
  list.split(",").some((entry) => entry.trim() === "*" || entry.trim().replace(/^W\//, "") === etag);

function isUnchanged(headers: Headers, object: StoredObject): boolean {
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) return names(ifNoneMatch, object.etag);
  const since = secondsOf(headers.get("if-modified-since"));
  return since !== null && seconds(object) <= since;
}

/** True if there is no If-Range, or it matches the current object. */
const isCurrent = (ifRange: string | null, object: StoredObject): boolean =>
  ifRange === null || ifRange === object.etag || secondsOf(ifRange) === seconds(object);

/** True if the object changed after a date; false if the date is not valid. */
function isOlder(date: string | null, object: StoredObject): boolean {
  const at = secondsOf(date);
  return at !== null && at < seconds(object);
}

const seconds = ({ uploadedAt }: StoredObject): number => Math.floor(uploadedAt.getTime() / 1000);

function secondsOf(date: string | null): number | null {
  const at = Date.parse(date ?? "");
  return Number.isNaN(at) ? null : at / 1000;
}
