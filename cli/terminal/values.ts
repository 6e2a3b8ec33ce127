// Bytes, durations and dates for people, and durations from people.

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** `1.50 GB`: powers of 1000, three significant digits. */
export function bytesText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit] ?? ""}`;
}

/** `9s`, `1m 05s`, `2h 03m`, `3d 04h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
  return `${Math.floor(whole / 86_400)}d ${two(Math.floor((whole % 86_400) / 3600))}h`;
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of `90`, `90s`, `15m`, `2h` or `1d`; null if the text is none of these. */
export function parseDuration(text: string): number | null {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(text.trim()) ?? [];
  return number === undefined ? null : Number(number) * (SECONDS[unit] ?? 1);
}

/** The time in ms of an ISO 8601 date, or of a duration before `nowMs`; null if the text is neither. */
export function parseTime(text: string, nowMs: number): number | null {
  const ago = parseDuration(text);
  if (ago !== null) return nowMs - ago * 1000;
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** The time in ms of `YYYY-MM-DD HH:MM:SS +0000` or ISO 8601, both of which the API has; NaN otherwise. */
export const apiTime = (text: string): number =>
  Date.parse(text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/, "$1T$2$3:$4"));

/** How long ago an API's date is, such as `5m 02s ago`; the text itself if it is none. */
export function agoText(text: string, nowMs: number): string {
  const at = apiTime(text);
  return Number.isNaN(at) ? text : `${durationText((nowMs - at) / 1000)} ago`;
}
