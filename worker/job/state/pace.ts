// The recent pace of a job, from which its end is estimated. Stored only with other changes of the job.
import * as z from "zod";

export const Pace = z.object({
  /** Points of the job's progress over the last minute, and the last point before it; `at` is in ms since 1970. */
  samples: z.array(z.object({ at: z.number(), fraction: z.number() })),
  /** Time that the rest takes at this pace; null: unknown. */
  leftMs: z.number().nullable(),
  /** The estimated end that clients see. */
  endsAt: z.number().nullable(),
  /** The estimate includes the time until a node takes the waiting job again. */
  isQueued: z.boolean(),
});
export type Pace = z.infer<typeof Pace>;

/** The estimate uses the progress of this time. */
const WINDOW_MS = 60_000;
/** A shorter time is too little for an estimate. */
const MIN_WINDOW_MS = 3000;
const SAMPLE_GAP_MS = 5000;
/** A job that needs longer counts as stalled. */
const MAX_LEFT_MS = 30 * 24 * 60 * 60_000;
/** Smaller changes of the estimate are not shown: in ms, and as a share of the remaining time. */
const STEADY_MS = 5000;
const STEADY_SHARE = 0.05;

/** The pace after a report of progress. Progress that has become less starts a new pace. */
export function withProgress(pace: Pace | undefined, fraction: number, now: number): Pace {
  if (pace && (pace.samples.at(-1)?.at ?? 0) >= now) return pace;
  const known = pace && (pace.samples.at(-1)?.fraction ?? 0) <= fraction ? pace.samples : [];
  const recent = known.filter((_, index) => (known[index + 1]?.at ?? now) > now - WINDOW_MS);
  const [first, last] = [recent[0], recent.at(-1)];
  const isDue = !last || now - last.at >= SAMPLE_GAP_MS;
  const perMs = first && now - first.at >= MIN_WINDOW_MS ? (fraction - first.fraction) / (now - first.at) : 0;
  const leftMs = perMs > 0 && (1 - fraction) / perMs < MAX_LEFT_MS ? (1 - fraction) / perMs : null;
  const endsAt = leftMs === null ? null : steady(pace?.endsAt ?? null, now + leftMs, now);
  return { samples: isDue ? [...recent, { at: now, fraction }] : recent, leftMs, endsAt, isQueued: false };
}

/** The pace of a waiting job that a node takes again in so many seconds; null: unknown. */
export function withQueue(pace: Pace, seconds: number | null, now: number): Pace {
  const end = pace.leftMs === null || seconds === null ? null : now + seconds * 1000 + pace.leftMs;
  const endsAt = end === null ? null : steady(pace.isQueued ? pace.endsAt : null, end, now);
  return { ...pace, endsAt, isQueued: true };
}

/** The shown end, unless the new estimate is far from it. So responses and events seldom differ only in the end. */
function steady(shown: number | null, estimate: number, now: number): number {
  const tolerance = Math.max(STEADY_MS, STEADY_SHARE * (estimate - now));
  return shown !== null && shown > now && Math.abs(estimate - shown) <= tolerance ? shown : estimate;
}
