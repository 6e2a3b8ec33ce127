// The times at which overlays are shown, on the clock of the frames that they are drawn into.
import type { Failure } from "../../../errors.ts";
import { type OverlaySpec, SOURCE_TIMECODE, TIMECODE } from "../../../job/overlays.ts";
import { err, ok, type Result } from "../../../result.ts";
import type { VideoTrack } from "../../source/source-tracks.ts";

/** Frames of a constant rate, in frames per second; one of them is at `originMs`. */
type Grid = { readonly fps: number; readonly originMs: number };

/** The clock of the frames of an output. All times are in ms. */
export type FrameClock = {
  /** Time of the frames at the start of the output. */
  readonly startMs: number;
  /** Time of the frames at the start of the source. */
  readonly sourceMs: number;
  /** Length of the output; null if it is not certain. */
  readonly lengthMs: number | null;
  /** Null: frames at any time. */
  readonly grid: Grid | null;
  /** The constant rate of the output's frames; null if it varies. */
  readonly fps: number | null;
};

/** Set if an overlay is not always shown: from this time, and until this time. Null: no limit. */
export type ShownTimes = {
  /** Between two frames, if their rate is constant. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** The fade in starts at this time. */
  readonly startMs: number;
  /** The fade out ends at this time; null: none. */
  readonly endMs: number | null;
  readonly fadeMs: number;
  /** Distance of frames at a constant rate; otherwise 20 ms. */
  readonly stepMs: number;
  /** The next frame starts at least this much after `fromMs` or `toMs`. */
  readonly slackMs: number;
};

/** `at`: position among the overlays of the output. */
export type TimedOverlay = {
  readonly at: number;
  readonly spec: OverlaySpec;
  readonly times: ShownTimes;
  /** Set for timecodes. */
  readonly count: FrameCount | null;
};

/** The overlays of an output, without those that are never shown. `after`: filters that set the times afterwards. */
export type DrawnOverlays = {
  readonly output: number;
  readonly overlays: readonly TimedOverlay[];
  readonly after: readonly string[];
};

type Drawn = { readonly index: number; readonly overlays?: readonly OverlaySpec[] };

/** Null without overlays. Fails if the times or the timecodes of an overlay are not known. */
export function drawnOverlays(
  { index, overlays }: Drawn,
  clock: FrameClock,
  track: VideoTrack,
  after: readonly string[] = [],
): Result<DrawnOverlays | null> {
  if (!overlays) return ok(null);
  const timed: TimedOverlay[] = [];
  for (const [at, spec] of overlays.entries()) {
    const times = timesOf(spec, clock);
    const count = "timecode" in spec ? countOf(spec.timecode, clock, track) : null;
    if (typeof times === "string") return err(overlayFailure(at, times));
    if (typeof count === "string") return err(overlayFailure(at, count));
    if (times.fromMs === null || times.toMs === null || times.fromMs < times.toMs)
      timed.push({ at, spec, times, count });
  }
  return ok({ output: index, overlays: timed, after });
}

/** `reason` completes "Overlay 1 cannot be drawn: …". */
export const overlayFailure = (at: number, reason: string): Failure => ({
  code: "overlay_failed",
  message: `Overlay ${at + 1} cannot be drawn: ${reason}.`,
});

/** Distance of the steps of a fade between frames at any time. */
const STEP_MS = 20;

function timesOf({ startMs, endMs, fadeMs }: OverlaySpec, clock: FrameClock): ShownTimes | string {
  const { lengthMs, grid } = clock;
  if (lengthMs === null && (startMs < 0 || (endMs ?? 0) < 0)) {
    return "its time counts from the end of the output, which the input does not state";
  }
  // Trims start shortly before a frame.
  const zero = grid && clock.startMs !== 0 ? betweenFrames(clock.startMs, grid) + 500 / grid.fps : clock.startMs;
  const onClock = (ms: number): number => zero + (ms < 0 ? Math.max(0, (lengthMs ?? 0) + ms) : ms);
  const [start, end] = [onClock(startMs), endMs === null ? null : onClock(endMs)];
  return {
    fromMs: startMs === 0 ? null : betweenFrames(start, grid),
    toMs: end === null ? null : betweenFrames(end, grid),
    startMs: start,
    endMs: end,
    fadeMs: Math.min(fadeMs, end === null ? fadeMs : Math.max(0, end - start) / 2),
    stepMs: grid ? 1000 / grid.fps : STEP_MS,
    slackMs: grid ? 500 / grid.fps : UNEVEN_TOLERANCE_MS,
  };
}

/** A frame that starts this much before a time counts as at it: containers and trims round to milliseconds. */
const TOLERANCE_MS = 1;
/** The same for frames at any time. It is not round, so that no frame is exactly at the limit. */
const UNEVEN_TOLERANCE_MS = 0.437;

/** A time after the last frame before `ms`, and before the next frame. */
function betweenFrames(ms: number, grid: Grid | null): number {
  if (!grid) return ms - UNEVEN_TOLERANCE_MS;
  const next = Math.ceil(((ms - TOLERANCE_MS - grid.originMs) * grid.fps) / 1000);
  return grid.originMs + ((next - 0.5) * 1000) / grid.fps;
}

/** Returns the reason if there is no such count. */
function countOf(timecode: string, clock: FrameClock, { fps, constantRate, timecode: stated, startMs }: VideoTrack) {
  if (timecode !== SOURCE_TIMECODE) {
    if (clock.fps === null) return "a timecode needs a constant frame rate; add a rate to the format, such as 25fps";
    return frameCountFrom(timecode, clock.fps, clock.startMs);
  }
  if (stated === null) return "the input states no timecode";
  if (!constantRate || fps === null) return "the frame rate of the input is not constant";
  return frameCountFrom(stated, fps, clock.sourceMs + startMs);
}

/** The number of a frame: `first`, and `fps` more for each second after `zeroMs`. */
export type FrameCount = {
  readonly fps: number;
  readonly zeroMs: number;
  readonly first: number;
  readonly dropsFrames: boolean;
};

/** Drop-frame timecode (SMPTE ST 12-1) is for 29.97 and 59.94 frames per second. */
const isDropRate = (fps: number): boolean => [30, 60].some((rate) => Math.abs(fps - rate / 1.001) < 0.001);

/** The count from a timecode at `zeroMs`. Returns the reason if frames of this rate have no such timecode. */
function frameCountFrom(timecode: string, fps: number, zeroMs: number): FrameCount | string {
  const [, hours, minutes, seconds, separator, frames] = TIMECODE.exec(timecode) ?? [];
  const rate = Math.round(fps);
  const dropsFrames = separator === ";";
  if (hours === undefined || Number(frames) >= rate) return `${timecode} is no timecode at ${rate} frames per second`;
  if (dropsFrames && !isDropRate(fps)) return "drop-frame timecode is for 29.97 and 59.94 frames per second";
  const minute = Number(hours) * 60 + Number(minutes);
  const dropped = dropsFrames ? (rate / 15) * (minute - Math.trunc(minute / 10)) : 0;
  const first = (minute * 60 + Number(seconds)) * rate + Number(frames) - dropped;
  return { fps, zeroMs, first, dropsFrames };
}
