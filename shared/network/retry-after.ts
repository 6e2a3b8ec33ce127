/** What a `Retry-After` asks for, in ms from `now` (ms since 1970): it says seconds, or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== "string") return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
