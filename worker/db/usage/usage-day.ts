// Days of usage, in UTC.

export const DAY_MS = 24 * 60 * 60_000;

/** The day of a time in ms since 1970, in days since 1970 (UTC). */
export const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS);
