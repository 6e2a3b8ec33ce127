// Chooses the gain that gives audio its requested loudness.
import type { LoudnessSpec } from "../../job/loudness.ts";

/** `integrated` in LUFS, `range` in LU, `true_peak` in dBTP. */
export type MeasuredLoudness = { readonly integrated: number; readonly range: number; readonly true_peak: number };

/** `limitDb`: the limiter keeps the true peak below this, in dBTP; null: no limiter is needed. */
export type ChosenGain = { readonly gainDb: number; readonly limitDb: number | null };

/** More would raise noise more than speech. */
const MAX_GAIN_DB = 20;
/** Quieter audio has no programme: room noise, or a disconnected microphone. */
export const QUIET_LUFS = -60;

/** Quieter blocks of 0.4 s do not count (ITU-R BS.1770-4). This is the loudness of audio without a louder block. */
const GATE_LUFS = -70;

/** Rounds a level to two decimals, as far as measurements are exact. */
export const hundredths = (level: number): number => Math.round(level * 100) / 100;

const limitedGain = (db: number): number => hundredths(Math.min(MAX_GAIN_DB, db));

/** The gain for a measured source: none if only the measurement is requested, or if the source is quiet. */
export function chooseGain(measured: MeasuredLoudness, { targetLufs, truePeakDb }: LoudnessSpec): ChosenGain {
  if (targetLufs === null || measured.integrated < QUIET_LUFS) return { gainDb: 0, limitDb: null };
  const gainDb = limitedGain(targetLufs - measured.integrated);
  return { gainDb, limitDb: measured.true_peak + gainDb > truePeakDb ? truePeakDb : null };
}

/** Measurements of true peaks differ by this much (ITU-R BS.1770-4 annex 2). */
const PEAK_TOLERANCE_DB = 0.1;
/** More would flatten the audio for the sake of a bad encoder. */
const MAX_LIMIT_REDUCTION_DB = 12;

const overshootDb = ({ true_peak }: Pick<MeasuredLoudness, "true_peak">, { truePeakDb }: LoudnessSpec): number =>
  true_peak - truePeakDb > PEAK_TOLERANCE_DB ? true_peak - truePeakDb : 0;

const missingLu = ({ integrated }: Pick<MeasuredLoudness, "integrated">, request: LoudnessSpec): number => {
  const missing = request.targetLufs === null ? 0 : request.targetLufs - integrated;
  return Math.abs(missing) > request.toleranceLu ? missing : 0;
};

/**
 * Corrects a gain by a trial: a limiter takes loudness from audio with high peaks, and lossy codecs raise peaks. Null
 * if the trial is as loud as requested, and its peaks are as low.
 */
export function correctGain(
  { gainDb, limitDb }: ChosenGain,
  trial: MeasuredLoudness,
  request: LoudnessSpec,
): ChosenGain | null {
  const { truePeakDb } = request;
  const over = overshootDb(trial, request);
  const lower = Math.max(truePeakDb - MAX_LIMIT_REDUCTION_DB, hundredths((limitDb ?? truePeakDb) - over));
  const corrected = { gainDb: limitedGain(gainDb + missingLu(trial, request)), limitDb: over > 0 ? lower : limitDb };
  return corrected.gainDb === gainDb && corrected.limitDb === limitDb ? null : corrected;
}

/** A sentence about a missed target; null if the output is as requested. `output`: with the gain. */
export function missNote(
  input: MeasuredLoudness,
  { gainDb }: ChosenGain,
  output: Pick<MeasuredLoudness, "integrated" | "true_peak">,
  request: LoudnessSpec,
): string | null {
  if (request.targetLufs === null) return null;
  if (input.integrated <= GATE_LUFS && input.true_peak > QUIET_LUFS)
    return "The input has less than 0.4 s of audio above −70 LUFS, too little to measure, so its loudness was not changed.";
  if (input.integrated < QUIET_LUFS)
    return `The input is quieter than ${QUIET_LUFS} LUFS, so its loudness was not changed.`;
  const [missing, over] = [missingLu(output, request), overshootDb(output, request)];
  const why = gainDb === MAX_GAIN_DB ? `the gain is at most ${MAX_GAIN_DB} dB` : "its peaks are limited";
  const notes = [
    missing === 0 ? [] : [`The loudness misses the target by ${missing.toFixed(1)} LU, because ${why}.`],
    over === 0 ? [] : [`The encoded audio exceeds the maximum true peak by ${over.toFixed(1)} dB.`],
  ].flat();
  return notes.length === 0 ? null : notes.join(" ");
}
