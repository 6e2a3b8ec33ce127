// Times of captions as text.

/** Formats a time in ms as `00:00:01.000` (WebVTT §3.3). SubRip has a comma instead of the point. */
export function timeText(ms: number, point: "." | "," = "."): string {
  const digits = (value: number, count: number): string => String(Math.floor(value)).padStart(count, "0");
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}${point}${digits(ms % 1000, 3)}`;
}

/** The time in ms of the digits of hours, minutes, seconds and a fraction of a second. */
export const clockMs = ([hours = "0", minutes, seconds, fraction = "0"]: readonly (string | undefined)[]): number =>
  ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Math.round(Number(`0.${fraction}`) * 1000);
