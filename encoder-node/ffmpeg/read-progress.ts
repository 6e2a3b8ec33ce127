// Parses the output of ffmpeg's `-progress pipe:1`: blocks of `key=value` lines, each ended by a `progress=` line.
import type { EncodingRate } from "#shared/protocol/frames.ts";

/**
 * Progress of a run. `frame` counts the first video output; `outTimeMs` is the furthest output's time. 0 until known.
 */
export type Progress = {
  readonly frame: number;
  readonly outTimeMs: number;
  readonly ended: boolean;
  /** Frames per second, and seconds of media per second, on average since the start; null until known. */
  readonly fps: number | null;
  readonly speed: number | null;
};

/** Parser state: the last complete block, the next block so far, and the rest of an incomplete line. */
export type ProgressReading = { readonly progress: Progress; readonly building: Progress; readonly rest: string };

/**
 * ffmpeg's lines are short. The parser keeps only this much of a longer line's end, so that memory use stays bounded.
 */
const MAX_LINE_CHARS = 4096;

/** Values beyond this are none: ffmpeg prints 2^63 − 1 for an unknown time. In microseconds: a hundred years. */
const MAX_VALUE = 100 * 365 * 86_400e6;

const NOTHING_YET: Progress = { frame: 0, outTimeMs: 0, ended: false, fps: null, speed: null };
export const INITIAL_PROGRESS: ProgressReading = { progress: NOTHING_YET, building: NOTHING_YET, rest: "" };

/**
 * Parses the next piece of text, which may end anywhere. `progress` of the result is the last complete block. A value
 * that ffmpeg does not know yet (`N/A`) leaves the previous value in place.
 */
export function readProgress(reading: ProgressReading, text: string): ProgressReading {
  const lines = (reading.rest + text).split("\n");
  const rest = lines.pop() ?? "";
  let { progress, building } = reading;
  for (const line of lines) {
    building = takeLine(building, line);
    if (line.startsWith("progress=")) progress = building;
  }
  return { progress, building, rest: rest.slice(-MAX_LINE_CHARS) };
}

function takeLine(building: Progress, line: string): Progress {
  const [, key, value = ""] = /^(\w+)=\s*(\S*)/.exec(line) ?? [];
  if (key === "progress") return { ...building, ended: value === "end" };
  const number = value === "" ? Number.NaN : Number(key === "speed" ? value.replace(/x$/, "") : value);
  if (!(Math.abs(number) <= MAX_VALUE)) return building;
  if (key === "frame") return { ...building, frame: number };
  if (key === "fps") return { ...building, fps: number };
  if (key === "speed") return { ...building, speed: number };
  // `out_time_ms` is also in microseconds, despite its name. Negative times occur while B-frames are delayed.
  if (key === "out_time_us") return { ...building, outTimeMs: Math.max(0, number / 1000) };
  return building;
}

/** A line such as ffmpeg's own `-stats`, of the known values. */
export function progressLine({ frame, outTimeMs, fps, speed }: Progress): string {
  const time = new Date(outTimeMs).toISOString().slice(11, 23);
  return [`frame=${frame}`, `time=${time}`, fps !== null && `fps=${fps}`, speed !== null && `speed=${speed}x`]
    .filter(Boolean)
    .join(" ");
}

/** Far above the rate of any encoder. ffmpeg may print more right after the start of a run. */
const MAX_RATE = 1_000_000;

/** The encoding rate of a run, without the values that are unknown. */
export function rateOf({ fps, speed }: Pick<Progress, "fps" | "speed">): EncodingRate {
  const isKnown = (rate: number | null): rate is number => rate !== null && rate > 0 && rate <= MAX_RATE;
  return { ...(isKnown(fps) ? { fps } : {}), ...(isKnown(speed) ? { speed } : {}) };
}

/** Expected totals of a run; null when unknown or not applicable. */
export type Expected = { readonly expectedFrames: number | null; readonly durationMs: number | null };

/**
 * Fraction of the work that is done, 0 to 1; 0 when no total is known. Frames are preferred, because with copied
 * timestamps the time is no measure. The value may decrease between two calls; callers that display it keep the
 * highest.
 */
export function progressFraction(
  progress: Pick<Progress, "frame" | "outTimeMs">,
  { expectedFrames, durationMs }: Expected,
): number {
  const share =
    expectedFrames !== null
      ? progress.frame / expectedFrames
      : durationMs !== null
        ? progress.outTimeMs / durationMs
        : 0;
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}
