// Reads the files that ffmpeg writes during a measurement of loudness.
import { hundredths, type MeasuredLoudness } from "./gain.ts";

/** The window of `peaksLog`, in seconds. */
export const PEAK_WINDOW_SECONDS = 0.1;

/** dBTP of silence. */
const SILENCE_DB = -120;

/**
 * The loudness of all audio: the last values that `ametadata` printed of `ebur128`. Null if there are none, because no
 * audio could be decoded.
 */
export function readLoudness(log: string): MeasuredLoudness | null {
  const values = new Map(
    [...log.matchAll(/^lavfi\.r128\.([\w.]+)=(-?[\d.]+|nan|-?inf)$/gm)].map(([, name, text]) => [name, Number(text)]),
  );
  const [integrated, range, peak] = ["I", "LRA", "true_peak"].map((name) => values.get(name) ?? Number.NaN);
  if (integrated === undefined || peak === undefined || Number.isNaN(integrated) || Number.isNaN(peak)) return null;
  return {
    integrated: hundredths(integrated),
    range: Number.isFinite(range) ? hundredths(range ?? 0) : 0,
    true_peak: peak > 0 ? hundredths(20 * Math.log10(peak)) : SILENCE_DB,
  };
}

/** Seconds during which the peaks before the limiter exceed its limit. */
export function limitedSeconds(peaksLog: string, limitDb: number): number {
  const levels = [...peaksLog.matchAll(/^lavfi\.astats\.Overall\.Peak_level=(-?[\d.]+)$/gm)];
  const limited = levels.filter(([, level]) => Number(level) > limitDb).length;
  return Math.round(limited * PEAK_WINDOW_SECONDS * 10) / 10;
}
