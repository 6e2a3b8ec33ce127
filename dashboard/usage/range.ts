// The days of the usage page, in UTC, as the service counts them. Pure.

/** Both included; `YYYY-MM-DD`. */
export type Range = { readonly from: string; readonly to: string };

/** The most days that the API returns (docs/usage.md). */
export const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

const text = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
const timeOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const firstOf = (year: number, month: number): string => text(Date.UTC(year, month, 1));
const before = (day: string): string => text(timeOf(day) - DAY_MS);

/** Ranges to choose from, by their names in the URL. */
export const PRESETS = {
  "7d": "7 days",
  "30d": "30 days",
  month: "This month",
  last: "Last month",
  year: "12 months",
} as const;
export type Preset = keyof typeof PRESETS;

/** The days of a preset, up to today. */
export function presetRange(preset: Preset, now: number): Range {
  const today = text(now);
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()];
  switch (preset) {
    case "7d":
      return { from: text(now - 6 * DAY_MS), to: today };
    case "30d":
      return { from: text(now - 29 * DAY_MS), to: today };
    case "month":
      return { from: firstOf(year, month), to: today };
    case "last":
      return { from: firstOf(year, month - 1), to: before(firstOf(year, month)) };
    case "year":
      return { from: firstOf(year, month - 11), to: today };
  }
}

const isDay = (day: string): boolean => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(timeOf(day));
export const isPreset = (name: string): name is Preset => Object.hasOwn(PRESETS, name);

/** The days of a query: a preset, or `from` and `to`. Of a longer range than the API returns, only the last days. */
export function rangeOf(query: URLSearchParams, now: number): Range & { readonly preset: Preset | null } {
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""];
  if (isDay(from) && isDay(to) && from <= to) {
    const first = text(timeOf(to) - (MAX_DAYS - 1) * DAY_MS);
    return { from: [first, from].toSorted().at(-1) ?? from, to, preset: null };
  }
  const name = query.get("range") ?? "";
  const preset = isPreset(name) ? name : "30d";
  return { ...presetRange(preset, now), preset };
}
