// `input.headers`: headers that a client adds to the requests for its source.

import { excerpt } from "../excerpt.ts";
import { err, ok, type Result } from "../result.ts";
import { isObject } from "./parse-section.ts";

export const MAX_HEADERS = 10;
export const MAX_HEADER_CHARS = 4096;

/** Header names in lower case, with their secret values. */
export type SourceHeaders = Readonly<Record<string, string>>;

const NAME = /^[A-Za-z0-9-]{1,64}$/;
/** Printable ASCII: other bytes mean different things to different servers. */
const VALUE = /^[\t\x20-\x7e]{1,4096}$/;

/** Headers that the service sets, and headers that change which bytes the response has. */
const OWN: ReadonlySet<string> = new Set([
  ...["host", "range", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["accept-encoding", "max-forwards", "http2-settings"],
]);
const OWN_START = /^(content|if|proxy)-/;

/** The error is the end of a sentence that starts with `input.headers`, and contains no value. */
export function parseSourceHeaders(value: unknown, hasUser: boolean): Result<SourceHeaders, string> {
  if (!isObject(value)) return err("` must be an object of names and values");
  const entries = Object.entries(value);
  if (entries.length > MAX_HEADERS) return err(`\` must have at most ${MAX_HEADERS} headers`);
  const headers = new Map<string, string>();
  for (const [name, text] of entries) {
    const lower = name.toLowerCase();
    // A wrong name may contain the value, as in `Authorization: Bearer …`.
    const field = `.${excerpt(name.replace(/[^A-Za-z0-9-].*/s, "…"))}\``;
    if (!NAME.test(name)) return err(`${field}: a name has 1 to 64 characters of A-Z, a-z, 0-9 and -`);
    if (OWN.has(lower) || OWN_START.test(lower)) return err(`${field} is a header that the service sets itself`);
    if (headers.has(lower)) return err(`${field} is there twice: names ignore case`);
    if (typeof text !== "string" || !VALUE.test(text) || text.trim() !== text)
      return err(`${field} must be 1 to ${MAX_HEADER_CHARS} printable ASCII characters, without spaces around them`);
    headers.set(lower, text);
  }
  if (hasUser && headers.has("authorization"))
    return err(".Authorization` is not possible beside a user and password in `input.url`: give one of them");
  return ok(Object.fromEntries(headers));
}
