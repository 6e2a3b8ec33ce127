// The Range header (RFC 9110, section 14.2), for what serves single ranges.

/** First and last byte, both within. */
export type ByteRange = { start: number; end: number };

/** The range asked for of `size` bytes; null for none, and for what is not understood, which is to be ignored. */
export function parseRange(header: string | null | undefined, size: number): ByteRange | "beyond" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) === 0 || size === 0 ? "beyond" : suffix(Number(last), size);
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= size) return "beyond";
  return { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

const suffix = (length: number, size: number): ByteRange => ({ start: Math.max(0, size - length), end: size - 1 });
