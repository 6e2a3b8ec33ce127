// The segment names and times of a track in a DASH manifest.
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack, Segment } from "../../codecs/segment.ts";
import { INIT_TEMPLATE, inStreamFolder, SEGMENT_TEMPLATE, segmentNumber } from "../package-files.ts";
import { element, type Lines } from "./xml.ts";

type Timed = Pick<PackagedTrack, "segments" | "timescale">;

/** True if the segments of these tracks start and end at the same times. */
export function areAligned(tracks: readonly Timed[]): boolean {
  const [first, ...others] = tracks;
  return first === undefined || others.every((other) => sameTimes(first, other));
}

/** Compares fractions, because the ticks may have different lengths. */
function sameTimes(a: Timed, b: Timed): boolean {
  const same = (left: number, right: number): boolean => left * b.timescale === right * a.timescale;
  return (
    a.segments.length === b.segments.length &&
    a.segments.every(({ start, duration }, at) => {
      const other = b.segments[at];
      return other !== undefined && same(start, other.start) && same(duration, other.duration);
    })
  );
}

/** The URLs and times of a representation's segments. They apply to all aligned tracks of the same timescale. */
export const segmentTemplate = ({ segments, timescale }: Timed, folder: string): Lines =>
  element(
    "SegmentTemplate",
    {
      timescale,
      presentationTimeOffset: STREAM_START_SECONDS * timescale,
      startNumber: segmentNumber(0),
      initialization: inStreamFolder(folder, INIT_TEMPLATE),
      media: inStreamFolder(folder, SEGMENT_TEMPLATE),
    },
    [element("SegmentTimeline", {}, timeline(segments))],
  );

type Run = { readonly start: number; readonly duration: number; count: number };

/**
 * Runs of consecutive segments of equal duration. A run has a start time only if it does not start at the end of the
 * previous run.
 */
function timeline(segments: readonly Segment[]): Lines[] {
  const runs: Run[] = [];
  for (const { start, duration } of segments) {
    const last = runs.at(-1);
    if (last && last.duration === duration && endOf(last) === start) last.count++;
    else runs.push({ start, duration, count: 1 });
  }
  return runs.map((run, at) => {
    const before = runs[at - 1];
    const follows = before !== undefined && endOf(before) === run.start;
    return element("S", { t: follows ? null : run.start, d: run.duration, r: run.count > 1 ? run.count - 1 : null });
  });
}

const endOf = ({ start, duration, count }: Run): number => start + duration * count;
