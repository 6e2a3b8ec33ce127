// The hours of the day in which a node takes work, by the clock and time zone of its machine.

/** Minutes since midnight. `to` may be before `from`: then the hours go over midnight. */
export type WorkingHours = { readonly from: number; readonly to: number };

const DAY_MINUTES = 24 * 60;

/** Parses `22-7` or `22:30-6:15`; null for other texts, and for hours whose start equals their end. */
export function parseHours(text: string): WorkingHours | null {
  const [, from = "", to = ""] = /^([\d:]+)-([\d:]+)$/.exec(text.trim()) ?? [];
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  return begin === null || end === null || begin % DAY_MINUTES === end % DAY_MINUTES ? null : { from: begin, to: end };
}

function minutesOf(text: string): number | null {
  const [, hours, minutes = "0"] = /^(\d{1,2})(?::(\d\d))?$/.exec(text) ?? [];
  const sum = Number(hours) * 60 + Number(minutes);
  return hours === undefined || Number(minutes) > 59 || sum > DAY_MINUTES ? null : sum;
}

export function isWithin({ from, to }: WorkingHours, now: Date): boolean {
  const minute = now.getHours() * 60 + now.getMinutes();
  return from < to ? from <= minute && minute < to : from <= minute || minute < to;
}

/** The reasons why a node gets no work outside its hours; none inside. */
export function outsideOf(hours: WorkingHours | null, now: Date): string[] {
  if (hours === null || isWithin(hours, now)) return [];
  return [`works from ${clockText(hours.from)} to ${clockText(hours.to)} (--hours)`];
}

const clockText = (minutes: number): string =>
  `${Math.floor(minutes / 60) % 24}:${String(minutes % 60).padStart(2, "0")}`;
