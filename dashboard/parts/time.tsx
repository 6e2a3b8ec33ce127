import { type Time as At, ago, dateTime } from "../core/format.ts";
import { now } from "../core/time.ts";

/** A time relative to now, such as "3 min ago"; the exact one is its title. `at`: ISO text, or ms since 1970. */
export function Time({ at }: { readonly at: At | null | undefined }) {
  if (at === null || at === undefined) return <span class="muted">–</span>;
  const iso = typeof at === "number" ? new Date(at).toISOString() : at;
  return (
    <time dateTime={iso} title={`${dateTime(at)} · ${iso}`}>
      {ago(at, now.value)}
    </time>
  );
}
