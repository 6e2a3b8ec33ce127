// Formats bytes, durations and dates for people. Parses durations and dates that people type.

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Formats bytes as `1.50 GB`: powers of 1000, three significant digits. */
export function bytesText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit] ?? ""}`;
}

/** Formats seconds as `9s`, `1m 05s`, `2h 03m` or `3d 04h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
  return `${Math.floor(whole / 86_400)}d ${two(Math.floor((whole % 86_400) / 3600))}h`;
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Parses `90`, `90s`, `15m`, `2h` or `1d` to seconds. Returns null for any other text. */
export function parseDuration(text: string): number | null {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(text.trim()) ?? [];
  return number === undefined ? null : Number(number) * (SECONDS[unit] ?? 1);
}

/** Parses an ISO 8601 date, or a duration before `nowMs`, to a time in ms. Returns null for any other text. */
export function parseTime(text: string, nowMs: number): number | null {
  const ago = parseDuration(text);
  if (ago !== null) return nowMs - ago * 1000;
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/**
 * Parses both date formats of the API, `YYYY-MM-DD HH:MM:SS +0000` and ISO 8601, to a time in ms. Returns NaN for
 * others.
 */
export const apiTime = (text: string): number =>
  Date.parse(text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/, "$1T$2$3:$4"));

/** Formats the age of an API date as `5m 02s ago`. Returns the text itself if it is no date. */
export function agoText(text: string, nowMs: number): string {
  const at = apiTime(text);
  return Number.isNaN(at) ? text : `${durationText((nowMs - at) / 1000)} ago`;
}
