// Log lines for people, on a terminal.
import * as z from "zod";

const Line = z.looseObject({ time: z.string(), level: z.string(), message: z.string() });

const COLORS: Readonly<Record<string, number>> = { debug: 2, warn: 33, error: 31 };

/** Formats a JSON log line: local time, level unless it is `info`, message, and values that are not null. */
export function readableLine(json: string, hasColors: boolean): string {
  const { time, level, message, ...fields } = Line.parse(JSON.parse(json));
  const color = (code: number | undefined, text: string): string =>
    hasColors && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const values = Object.entries(fields).flatMap(([name, value]) =>
    value === null || value === "" ? [] : [`${name}=${quoted(value)}`],
  );
  const words = [level === "info" ? "" : `${level.toUpperCase()} `, message];
  const text = color(COLORS[level], words.join(""));
  return [new Date(time).toTimeString().slice(0, 8), text, color(2, values.join(" "))].join("  ").trimEnd();
}

/** Quotes text that may come from others, and escapes characters that a terminal could obey. */
function quoted(value: unknown): string {
  if (typeof value === "string" && /^[\w.,:/@+-]+$/.test(value)) return value;
  return JSON.stringify(value).replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
