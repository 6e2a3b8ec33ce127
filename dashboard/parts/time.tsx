import { type Time as At, ago, dateTime, timeOf } from "../core/format.ts";
import { now } from "../core/time.ts";

/** A time relative to now, such as "3 min ago". The title has the exact time. */
export function Time({ at }: { readonly at: At | null | undefined }) {
  if (at === null || at === undefined) return <span class="muted">–</span>;
  const ms = timeOf(at);
  if (Number.isNaN(ms)) return <span>{at}</span>;
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${dateTime(at)} · ${iso}`}>
      {ago(at, now.value)}
    </time>
  );
}
