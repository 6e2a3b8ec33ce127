// Which moments of a source become pictures, and which part of the film each stands for.
import { assertNever, type Failure } from "../../errors.ts";
import type { FrameSelection } from "../../job/output-spec.ts";
import type { VideoTrack } from "../source/source-tracks.ts";

/** Moments at even distances, in ms on the source's line, where its earliest stream starts at 0. */
export type SamplingInterval = { readonly firstMs: number; readonly stepMs: number; readonly count: number };

/** Moments in order of time, or why there are none. */
export type ChosenTimestamps =
  | { readonly ok: true; readonly intervals: readonly SamplingInterval[] }
  | { readonly ok: false; readonly failure: Failure };

/** What is known of the picture track when moments are chosen. */
export type TrackLength = Pick<VideoTrack, "startMs" | "durationMs" | "lengthFrom">;

/**
 * Pictures that an interval may give as files of their own, and on sheets. A job's state, its report and its answers name
 * every file: 5,000 take half a megabyte of each. Our decision.
 */
const MAX_FILES_BY_INTERVAL = 5_000;
const MAX_CELLS_BY_INTERVAL = 10_000;

/** Distance of pictures without a length to divide. */
const ASSUMED_SLOT_MS = 1_000;

/** Frames per second of what moves: a whole number of a gif's hundredths of a second, and enough for a preview. */
export const ANIMATION_FPS = 10;
const MOVING_STEP_MS = 1_000 / ANIMATION_FPS;

/** The automatic interval by the source's length (api-v2 §5): up to so many minutes, a picture every so many seconds. */
const AUTOMATIC_INTERVALS = [
  { minutes: 2, seconds: 2 },
  { minutes: 10, seconds: 5 },
  { minutes: 30, seconds: 10 },
  { minutes: 60, seconds: 20 },
  { minutes: Number.POSITIVE_INFINITY, seconds: 30 },
] as const;

/** The moments that a selection names in this track. `onSheets`: the pictures are no files of their own. */
export function chooseTimestamps(selection: FrameSelection, track: TrackLength, onSheets: boolean): ChosenTimestamps {
  switch (selection.by) {
    case "number":
      return chosen([slotMiddles(selection.number, track)]);
    case "offsets":
      return atOffsets(selection.offsetsMs, track);
    case "interval":
      return everyInterval(selection.intervalMs, track, onSheets ? MAX_CELLS_BY_INTERVAL : MAX_FILES_BY_INTERVAL);
    case "scenes":
      return chosen(scenes(selection.number, selection.durationMs, track));
    default:
      return assertNever(selection);
  }
}

/** How many pictures the moments give. */
export const countTimestamps = (strides: readonly SamplingInterval[]): number =>
  strides.reduce((sum, { count }) => sum + count, 0);

/** Every moment by itself, in ms. */
export const timestampsOf = (strides: readonly SamplingInterval[]): number[] =>
  strides.flatMap(({ firstMs, stepMs, count }) => Array.from({ length: count }, (_, at) => firstMs + at * stepMs));

/** The last moment of any, in ms; 0 when there is none. */
export const lastTimestamp = (strides: readonly SamplingInterval[]): number =>
  Math.max(0, ...strides.map(({ firstMs, stepMs, count }) => firstMs + (count - 1) * stepMs));

const chosen = (strides: readonly SamplingInterval[]): ChosenTimestamps => ({ ok: true, intervals: strides });

/** The track's length is cut into equal slots, each shown by its middle. */
function slotMiddles(count: number, { startMs, durationMs }: TrackLength): SamplingInterval {
  const stepMs = durationMs ? durationMs / count : ASSUMED_SLOT_MS;
  return { firstMs: startMs + stepMs / 2, stepMs, count };
}

function atOffsets(offsetsMs: readonly number[], track: TrackLength): ChosenTimestamps {
  // A length that was worked out from a bitrate proves nothing.
  const endMs = track.durationMs === null || track.lengthFrom === "estimate" ? null : track.startMs + track.durationMs;
  const beyond = endMs === null ? undefined : offsetsMs.find((offset) => offset > endMs);
  if (beyond !== undefined && endMs !== null) {
    const message = `There is no picture at ${seconds(beyond)} s: the input ends at ${seconds(endMs)} s.`;
    return { ok: false, failure: { code: "offset_beyond_end", message } };
  }
  return chosen(offsetsMs.toSorted((a, b) => a - b).map((firstMs) => ({ firstMs, stepMs: 1, count: 1 })));
}

function everyInterval(asked: number | null, { startMs, durationMs }: TrackLength, most: number): ChosenTimestamps {
  if (!durationMs) {
    const message = "The input does not say how long it is, which pictures by `interval` need; `offsets` do not.";
    return { ok: false, failure: { code: "output_interval_not_possible", message } };
  }
  const stepMs = asked ?? automaticInterval(durationMs);
  const count = Math.ceil(durationMs / stepMs);
  if (count <= most) return chosen([{ firstMs: startMs, stepMs, count }]);
  const message =
    `A picture every ${seconds(stepMs)} s would be ${count} of them; at most ${most} are possible, ` +
    `so every ${Math.ceil(durationMs / most / 100) / 10} s for this input.`;
  return { ok: false, failure: { code: "output_interval_not_possible", message } };
}

/** In ms. */
function automaticInterval(durationMs: number): number {
  const step = AUTOMATIC_INTERVALS.find(({ minutes }) => durationMs <= minutes * 60_000);
  return (step?.seconds ?? 0) * 1_000;
}

/** Each in the middle of a slot of its own, and no longer than that. */
function scenes(count: number, durationMs: number, track: TrackLength): SamplingInterval[] {
  const slotMs = track.durationMs ? track.durationMs / count : durationMs;
  const lengthMs = Math.min(durationMs, slotMs);
  const frames = Math.max(1, Math.round(lengthMs / MOVING_STEP_MS));
  return Array.from({ length: count }, (_, at) => ({
    firstMs: track.startMs + at * slotMs + (slotMs - lengthMs) / 2,
    stepMs: MOVING_STEP_MS,
    count: frames,
  }));
}

/** A time for people, in seconds. */
const seconds = (ms: number): string => String(Number((ms / 1_000).toFixed(3)));
