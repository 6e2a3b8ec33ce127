// Chooses the parts of a video that are encoded to find its rate factor.

/** A part of the source, in ms from the start of the file. */
export type SampleWindow = {
  readonly fromMs: number;
  readonly lengthMs: number;
  /** Time by which the sample may start earlier, at a keyframe: not before the part, nor within the sample before. */
  readonly earlierMs: number;
};

/** From a keyframe to the next keyframe: its start, in ms from the start of the file, and its size in the source. */
export type KeyframeGroup = { readonly fromMs: number; readonly bytes: number };

/** The samples' share of the video: with three probes, encoding and measuring them costs a fifth of the encode. */
const SHARE = 0.05;
/** Shorter samples do not represent the video: an encoder starts each with a keyframe, and looks ahead two seconds. */
const LEAST_MS = 1500;
const MOST_MS = 16_000;
const ONE_MS = 1000;
/** The score of a video depends on its worst hundredth, so no sample of harder frames is needed. */
const HARDEST = 0.99;
/**
 * A seek to the rounded time of a keyframe may end before it. So samples are planned this long after a keyframe, and
 * then start earlier.
 */
const INSIDE_MS = 20;

type Part = { readonly fromMs: number; readonly toMs: number };

/**
 * Returns samples of about a second each from a part of the source. With its groups in the order of time, the samples
 * have all degrees of complexity, by the bits that the source needs. The groups are divided, from the easiest to the
 * hardest group, into equally long parts. Each part gives a sample at its hard end, because the worst frames decide the
 * score. Without groups the samples are evenly spread.
 */
export function sampleWindows(part: Part, groups: readonly KeyframeGroup[] = []): SampleWindow[] {
  const lengthMs = Math.max(0, part.toMs - part.fromMs);
  const totalMs = Math.min(lengthMs, MOST_MS, Math.max(LEAST_MS, lengthMs * SHARE));
  const count = Math.max(1, Math.floor(totalMs / ONE_MS));
  const each = totalMs / count;
  return byComplexity(partsOf(groups, part, each + INSIDE_MS), count, each, part) ?? evenly(part, count, each);
}

function evenly({ fromMs, toMs }: Part, count: number, each: number): SampleWindow[] {
  const lengthMs = Math.max(0, toMs - fromMs);
  const restMs = lengthMs / count - each;
  return Array.from({ length: count }, (_, at) => ({
    fromMs: fromMs + ((at + 0.5) * lengthMs) / count - each / 2,
    lengthMs: each,
    earlierMs: at === 0 ? restMs / 2 : restMs,
  }));
}

type Stretch = Part & { readonly bytes: number };
const lengthOf = ({ fromMs, toMs }: Part): number => toMs - fromMs;

/** Returns the groups within the part. Groups that are shorter than a sample are merged with their neighbors. */
function partsOf(groups: readonly KeyframeGroup[], { fromMs, toMs }: Part, leastMs: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [at, group] of groups.entries()) {
    if (group.fromMs < fromMs || group.fromMs >= toMs) continue;
    const nextMs = groups[at + 1]?.fromMs ?? toMs;
    const endMs = Math.min(toMs, nextMs);
    const bytes = (group.bytes * (endMs - group.fromMs)) / (nextMs - group.fromMs);
    const stretch = { fromMs: group.fromMs, toMs: endMs, bytes };
    const last = stretches.at(-1);
    if (last && lengthOf(last) < leastMs) stretches.splice(-1, 1, together(last, stretch));
    else stretches.push(stretch);
  }
  const [before, rest] = stretches.slice(-2);
  if (before && rest && lengthOf(rest) < leastMs) stretches.splice(-2, 2, together(before, rest));
  return stretches;
}

const together = (previous: Stretch, next: Stretch): Stretch => ({
  fromMs: previous.fromMs,
  toMs: next.toMs,
  bytes: previous.bytes + next.bytes,
});

/** Null if there are fewer stretches than samples, a stretch is too short, or most of the part has no group. */
function byComplexity(stretches: readonly Stretch[], count: number, each: number, part: Part): SampleWindow[] | null {
  if (stretches.length < Math.max(2, count) || stretches.some((stretch) => !(lengthOf(stretch) >= each))) return null;
  const sorted = stretches.toSorted((a, b) => a.bytes / lengthOf(a) - b.bytes / lengthOf(b));
  const totalMs = sorted.reduce((sum, stretch) => sum + lengthOf(stretch), 0);
  if (totalMs < lengthOf(part) / 2) return null;
  const chosen = new Map<Stretch, number>();
  let endMs = 0;
  let next = 0;
  for (const stretch of sorted) {
    endMs += lengthOf(stretch);
    while (next < count && endMs >= (HARDEST * totalMs * (next + 1)) / count) {
      chosen.set(stretch, (chosen.get(stretch) ?? 0) + 1);
      next += 1;
    }
  }
  let earliestMs = part.fromMs;
  return [...chosen]
    .toSorted(([a], [b]) => a.fromMs - b.fromMs)
    .flatMap(([stretch, samples]) => samplesIn(stretch, samples, each))
    .map((startMs): SampleWindow => {
      const earlierMs = Math.max(0, startMs - earliestMs);
      earliestMs = startMs + each;
      return { fromMs: startMs, lengthMs: each, earlierMs };
    });
}

/** Start times of the samples of a stretch. The first sample is at the stretch's keyframe. */
const samplesIn = ({ fromMs, toMs }: Stretch, samples: number, each: number): number[] =>
  Array.from({ length: samples }, (_, at) => {
    const startMs = fromMs + (at * (toMs - fromMs)) / samples;
    return Math.min(startMs + INSIDE_MS, toMs - each);
  });
