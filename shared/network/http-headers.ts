// Parses the HTTP headers Range (RFC 9110 §14.2, single ranges only) and Retry-After (§10.2.3).

/** First and last byte, both inclusive. */
export type ByteRange = { start: number; end: number };

/**
 * Returns the requested range of `size` bytes. Null without a range, or for an invalid range, which must be ignored.
 */
export function parseRange(header: string | null | undefined, size: number): ByteRange | "beyond" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) === 0 || size === 0 ? "beyond" : suffix(Number(last), size);
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= size) return "beyond";
  return { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

const suffix = (length: number, size: number): ByteRange => ({ start: Math.max(0, size - length), end: size - 1 });

/** Returns the delay of a `Retry-After` header, in ms from `now` (ms since 1970). The header has seconds or a date. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== "string") return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
