// Numbers, times and sizes in a form for people. An unknown value is "–".

const LOCALE = "en-GB";
const UNKNOWN = "–";
type Maybe = number | null | undefined;
const isKnown = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

const integer = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
/** `1,284`. */
export const count = (value: Maybe): string => (isKnown(value) ? integer.format(value) : UNKNOWN);

/** `1 job`, `2 jobs`. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A number with three digits at most, such as `1.25`, `12.5` and `125`. */
export function short(value: Maybe): string {
  if (!isKnown(value)) return UNKNOWN;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return new Intl.NumberFormat(LOCALE, { maximumFractionDigits: digits }).format(value);
}

/** The same as `short` for used amounts: a small amount is never `0`. */
export const amount = (value: Maybe): string =>
  isKnown(value) && value > 0 && value < 0.005 ? "< 0.01" : short(value);

/** `value` in the largest unit that makes it at least 1; each unit is 1000 times the unit before. */
function scaled(value: Maybe, units: readonly string[]): string {
  if (!isKnown(value)) return UNKNOWN;
  let rest = value;
  let at = 0;
  while (Math.abs(rest) >= 999.5 && at < units.length - 1) {
    rest /= 1000;
    at++;
  }
  return `${short(rest)} ${units[at]}`;
}

/** `1.25 GB`; units of 1000. */
export const bytes = (value: Maybe): string => scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"]);

/** Bits per second as `2.5 Mbit/s`. */
export const bitrate = (value: Maybe): string => scaled(value, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);

/** 0 to 1 as `34 %`. Only a complete fraction is 100 %. */
export function percent(fraction: Maybe): string {
  if (!isKnown(fraction)) return UNKNOWN;
  return `${Math.floor(Math.min(1, Math.max(0, fraction)) * 100 + 1e-9)} %`;
}

/** The length of a period between two times of the API, which have whole seconds. */
export const took = (seconds: number): string => (seconds < 1 ? "< 1 s" : duration(seconds));

/** Seconds as `340 ms`, `8.2 s`, `34 s`, `3 min 5 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(seconds: Maybe): string {
  if (!isKnown(seconds)) return UNKNOWN;
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return two(whole, 60, "min", 1, "s");
  if (whole < 86_400) return two(whole, 3600, "h", 60, "min");
  return two(whole, 86_400, "d", 3600, "h");
}

function two(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeUnit}${rest === 0 ? "" : ` ${rest} ${smallUnit}`}`;
}

/** A position in a video, in seconds, as `1:02:03.4` or `0:08.2`. */
export function timecode(seconds: Maybe, digits = 1): string {
  if (!isKnown(seconds)) return UNKNOWN;
  const scale = 10 ** digits;
  const units = Math.max(0, Math.round(seconds * scale));
  const whole = Math.floor(units / scale);
  const rest = digits === 0 ? "" : `.${String(units % scale).padStart(digits, "0")}`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const tail = `${String(whole % 60).padStart(2, "0")}${rest}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** A time from the API or a clock: ISO text, `2026-11-21 05:23:27 +0000` as in jobs, or ms since 1970. */
export type Time = string | number;
/** ms since 1970; NaN for an invalid time. Some browsers cannot parse the format of jobs. */
export const timeOf = (time: Time): number =>
  typeof time === "number" ? time : Date.parse(time.replace(/^(\S+) (\S+) ([+-]\d\d)(\d\d)$/, "$1T$2$3:$4"));

const AGO_UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** `just now`, `12 s ago`, `3 min ago`, `2 h ago`, `5 d ago`, then the date; the same with `in …` for the future. */
export function ago(time: Time, now: number): string {
  const at = timeOf(time);
  if (!Number.isFinite(at)) return UNKNOWN;
  const seconds = Math.abs(now - at) / 1000;
  if (seconds < 2) return "just now";
  if (seconds >= 7 * 86_400) return date(at);
  const [length, unit] = AGO_UNITS.find(([least]) => seconds >= least) ?? [1, "s"];
  const text = `${Math.floor(seconds / length)} ${unit}`;
  return at > now ? `in ${text}` : `${text} ago`;
}

const formatter = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(LOCALE, options);
  return (time: Time): string => {
    const at = timeOf(time);
    return Number.isFinite(at) ? format.format(at) : UNKNOWN;
  };
};

/** `23 Nov 2026`, in the time zone of the browser. */
export const date = formatter({ day: "numeric", month: "short", year: "numeric" });
/** `02:56:16`, in the time zone of the browser. */
export const clock = formatter({ timeStyle: "medium" });
/** `23 Nov 2026, 02:56:16 UTC`, in the time zone of the browser. */
export const dateTime = formatter({
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
