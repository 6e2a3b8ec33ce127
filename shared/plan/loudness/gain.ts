// Chooses the gain that gives audio its requested loudness.
import type { LoudnessSpec } from "../../job/loudness.ts";

/** `integrated` in LUFS, `range` in LU, `truePeak` in dBTP. */
export type MeasuredLoudness = { readonly integrated: number; readonly range: number; readonly truePeak: number };

/** `limitDb`: the limiter keeps the true peak below this, in dBTP; null: no limiter is needed. */
export type ChosenGain = { readonly gainDb: number; readonly limitDb: number | null };

/** More would raise noise more than speech. */
const MAX_GAIN_DB = 20;
/** Quieter audio has no programme: room noise, or a disconnected microphone. */
export const QUIET_LUFS = -60;

/** Rounds a level to two decimals, as far as measurements are exact. */
export const hundredths = (level: number): number => Math.round(level * 100) / 100;

const limitedGain = (db: number): number => hundredths(Math.min(MAX_GAIN_DB, db));

/** The gain for a measured source: none if only the measurement is requested, or if the source is quiet. */
export function chooseGain(measured: MeasuredLoudness, { targetLufs, truePeakDb }: LoudnessSpec): ChosenGain {
  if (targetLufs === null || measured.integrated < QUIET_LUFS) return { gainDb: 0, limitDb: null };
  const gainDb = limitedGain(targetLufs - measured.integrated);
  return { gainDb, limitDb: measured.truePeak + gainDb > truePeakDb ? truePeakDb : null };
}

/** A limiter takes loudness from audio with high peaks. Null if the limited audio is as loud as requested. */
export function correctGain(
  { gainDb, limitDb }: ChosenGain,
  limited: MeasuredLoudness,
  { targetLufs, toleranceLu }: LoudnessSpec,
): ChosenGain | null {
  const missingDb = targetLufs === null ? 0 : targetLufs - limited.integrated;
  if (Math.abs(missingDb) <= toleranceLu) return null;
  const corrected = limitedGain(gainDb + missingDb);
  return corrected === gainDb ? null : { gainDb: corrected, limitDb };
}
