// The timestamps of the source at which images are taken.
import { assertNever, type Failure } from "../../errors.ts";
import type { FrameSelection } from "../../job/output-spec.ts";
import { err, ok, type Result } from "../../result.ts";
import { ANIMATION_FPS } from "../encoders/image-encoders.ts";
import type { VideoTrack } from "../source/source-tracks.ts";

/** Evenly spaced timestamps, in ms on the source's timeline, where its earliest stream starts at 0. */
export type SamplingInterval = { readonly firstMs: number; readonly stepMs: number; readonly count: number };

/** Known facts about the length of the video track. */
export type TrackLength = Pick<VideoTrack, "startMs" | "durationMs" | "lengthFrom">;

/**
 * Limits for the images that an interval may give in separate files, and on sprite sheets. A job's state, its report
 * and its responses name every file: 5,000 need half a megabyte each. Our decision.
 */
const MAX_FILES_BY_INTERVAL = 5_000;
const MAX_CELLS_BY_INTERVAL = 10_000;

/** Distance of images if there is no length to divide. */
const ASSUMED_SLOT_MS = 1_000;

const ANIMATION_STEP_MS = 1_000 / ANIMATION_FPS;

/** Automatic interval by the source's length (api-v2 §5): up to this many minutes, an image every this many seconds. */
const AUTOMATIC_INTERVALS = [
  { minutes: 2, seconds: 2 },
  { minutes: 10, seconds: 5 },
  { minutes: 30, seconds: 10 },
  { minutes: 60, seconds: 20 },
  { minutes: Number.POSITIVE_INFINITY, seconds: 30 },
] as const;

/** Timestamps of a selection in this track, in time order. `onSheets`: images are not separate files. */
export function chooseTimestamps(
  selection: FrameSelection,
  track: TrackLength,
  onSheets: boolean,
): Result<readonly SamplingInterval[]> {
  switch (selection.by) {
    case "number":
      return ok([slotMiddles(selection.number, track)]);
    case "offsets":
      return atOffsets(selection.offsetsMs, track);
    case "interval":
      return everyInterval(selection.intervalMs, track, onSheets ? MAX_CELLS_BY_INTERVAL : MAX_FILES_BY_INTERVAL);
    case "scenes":
      return ok(scenes(selection.number, selection.durationMs, track));
    default:
      return assertNever(selection);
  }
}

/** Number of timestamps. */
export const countTimestamps = (intervals: readonly SamplingInterval[]): number =>
  intervals.reduce((sum, { count }) => sum + count, 0);

/** Every single timestamp, in ms. */
export const timestampsOf = (intervals: readonly SamplingInterval[]): number[] =>
  intervals.flatMap(({ firstMs, stepMs, count }) => Array.from({ length: count }, (_, at) => firstMs + at * stepMs));

/** Last timestamp, in ms; 0 if there is none. */
export const lastTimestamp = (intervals: readonly SamplingInterval[]): number =>
  Math.max(0, ...intervals.map(({ firstMs, stepMs, count }) => firstMs + (count - 1) * stepMs));

/** Divides the track into equal slots, and takes the middle of each. */
function slotMiddles(count: number, { startMs, durationMs }: TrackLength): SamplingInterval {
  const stepMs = durationMs ? durationMs / count : ASSUMED_SLOT_MS;
  return { firstMs: startMs + stepMs / 2, stepMs, count };
}

function atOffsets(offsetsMs: readonly number[], track: TrackLength): Result<SamplingInterval[]> {
  // A length estimated from a bitrate proves nothing.
  const endMs = track.durationMs === null || track.lengthFrom === "estimate" ? null : track.startMs + track.durationMs;
  const beyond = endMs === null ? undefined : offsetsMs.find((offset) => offset > endMs);
  if (beyond !== undefined && endMs !== null) {
    const message = `There is no frame at ${seconds(beyond)} s: the input ends at ${seconds(endMs)} s.`;
    return err({ code: "offset_beyond_end", message });
  }
  return ok(offsetsMs.toSorted((a, b) => a - b).map((firstMs) => ({ firstMs, stepMs: 1, count: 1 })));
}

const intervalFailure = (message: string): Failure => ({ code: "output_interval_not_possible", message });

function everyInterval(
  requestedMs: number | null,
  { startMs, durationMs }: TrackLength,
  most: number,
): Result<SamplingInterval[]> {
  if (!durationMs) {
    return err(intervalFailure("The length of the input is unknown, so `interval` is not possible. Use `offsets`."));
  }
  const stepMs = requestedMs ?? automaticInterval(durationMs);
  const count = Math.ceil(durationMs / stepMs);
  if (count <= most) return ok([{ firstMs: startMs, stepMs, count }]);
  const message =
    `An image every ${seconds(stepMs)} s would give ${count} images; at most ${most} are possible, ` +
    `so one every ${Math.ceil(durationMs / most / 100) / 10} s for this input.`;
  return err(intervalFailure(message));
}

/** The interval, in ms. */
function automaticInterval(durationMs: number): number {
  const step = AUTOMATIC_INTERVALS.find(({ minutes }) => durationMs <= minutes * 60_000);
  return (step?.seconds ?? 0) * 1_000;
}

/** Each scene is in the middle of its own slot, and no longer than the slot. */
function scenes(count: number, durationMs: number, track: TrackLength): SamplingInterval[] {
  const slotMs = track.durationMs ? track.durationMs / count : durationMs;
  const lengthMs = Math.min(durationMs, slotMs);
  const frames = Math.max(1, Math.round(lengthMs / ANIMATION_STEP_MS));
  return Array.from({ length: count }, (_, at) => ({
    firstMs: track.startMs + at * slotMs + (slotMs - lengthMs) / 2,
    stepMs: ANIMATION_STEP_MS,
    count: frames,
  }));
}

/** A time for messages, in seconds. */
const seconds = (ms: number): string => String(Number((ms / 1_000).toFixed(3)));
