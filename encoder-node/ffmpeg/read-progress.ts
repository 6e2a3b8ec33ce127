// Reads what ffmpeg writes with `-progress pipe:1`: blocks of `key=value` lines, each ended by a `progress=` line.

/** How far a run is. `frame` counts the first video output; `outTimeMs` is the furthest output's time; 0 until known. */
export type Progress = { readonly frame: number; readonly outTimeMs: number; readonly ended: boolean };

/** The reader's memory between two pieces of text: the last whole block, and what has come of the next one. */
export type ProgressReading = { readonly progress: Progress; readonly building: Progress; readonly rest: string };

const NOTHING_YET: Progress = { frame: 0, outTimeMs: 0, ended: false };
export const START_OF_PROGRESS: ProgressReading = { progress: NOTHING_YET, building: NOTHING_YET, rest: "" };

/**
 * Takes in the next piece of the text, cut anywhere. `progress` of the answer is the last whole block. A value that
 * ffmpeg does not know yet (`N/A`) leaves the one before it standing.
 */
export function readProgress(reading: ProgressReading, text: string): ProgressReading {
  const lines = (reading.rest + text).split("\n");
  const rest = lines.pop() ?? "";
  let { progress, building } = reading;
  for (const line of lines) {
    building = takeLine(building, line);
    if (line.startsWith("progress=")) progress = building;
  }
  return { progress, building, rest };
}

function takeLine(building: Progress, line: string): Progress {
  const [, key, value = ""] = /^(\w+)=\s*(\S*)/.exec(line) ?? [];
  if (key === "progress") return { ...building, ended: value === "end" };
  const number = value === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return building;
  if (key === "frame") return { ...building, frame: number };
  // `out_time_ms` is in microseconds, too, in spite of its name. Times before zero occur while B-frames are delayed.
  if (key === "out_time_us") return { ...building, outTimeMs: Math.max(0, number / 1000) };
  return building;
}

/** What a run is expected to make; null where it cannot be known or does not apply. */
export type Expected = { readonly expectedFrames: number | null; readonly durationMs: number | null };

/**
 * Share of the work that is done, 0 to 1; 0 when nothing is expected. Frames say more than time: with copied
 * timestamps the time is no measure. It may fall back between two calls: whoever shows it keeps the highest.
 */
export function progressFraction(progress: Progress, { expectedFrames, durationMs }: Expected): number {
  const share =
    expectedFrames !== null
      ? progress.frame / expectedFrames
      : durationMs !== null
        ? progress.outTimeMs / durationMs
        : 0;
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}
