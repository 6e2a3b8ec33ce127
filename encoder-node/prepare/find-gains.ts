// Measures the audio of outputs with the parameter `loudness`, and chooses their gains, before they are encoded.
import type { LoudnessMetadata, LoudnessSpec } from "#shared/job/loudness.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import {
  type ChosenGain,
  chooseGain,
  correctGain,
  hundredths,
  type MeasuredLoudness,
  missNote,
  QUIET_LUFS,
} from "#shared/plan/loudness/gain.ts";
import {
  type LoudnessMix,
  loudnessFile,
  loudnessMixes,
  needsTrial,
  PEAKS_FILE,
  planMeasurement,
  planTrial,
  planTrialMeasurement,
  TRIAL_FILE,
} from "#shared/plan/loudness/plan-measurement.ts";
import { limitedSeconds, readLoudness } from "#shared/plan/loudness/read-measurement.ts";
import { type AudioFile, chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { readEnd, readText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { type RunDeps, runOnSource } from "../workspace/run-planned.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { ServedSource, TaskSource } from "../workspace/task-source.ts";

export type LoudnessWork = TaskSource & { readonly audioFiles?: readonly AudioFile[] };

export type FoundGains = {
  /** The outputs with the gains that were found. */
  readonly outputs: readonly OutputSpec[];
  /** By output. */
  readonly reports: ReadonlyMap<number, LoudnessMetadata[]>;
};

type Wanted = { readonly output: number; readonly mix: LoudnessMix; readonly request: LoudnessSpec };

/**
 * Measures each distinct mix of the source once. Reads nothing if no output requests loudness. Throws an AppError with
 * the failure of ffmpeg, and when the signal aborts.
 */
export async function findGains(work: LoudnessWork, outputs: readonly OutputSpec[], deps: Deps): Promise<FoundGains> {
  const source = { ...work, tracks: chooseTracks(work.probe, work.audioFiles) };
  const wanted = outputs.flatMap((spec): Wanted[] => {
    const request = hasTracks(spec) ? spec.loudness : undefined;
    return request ? loudnessMixes(spec, source.tracks).map((mix) => ({ output: spec.index, mix, request })) : [];
  });
  if (wanted.length === 0) return { outputs: [...outputs], reports: new Map() };
  const measured = await measureAll(source, [...new Map(wanted.map(({ mix }) => [keyOf(mix), mix])).values()], deps);
  const adjusted = new Map<string, Adjusted>();
  const byOutput = new Map<number, Adjusted[]>();
  for (const { output, mix, request } of wanted) {
    const input = measured.get(keyOf(mix));
    // No audio could be decoded.
    if (!input) continue;
    const key = JSON.stringify([keyOf(mix), mix.number, mix.encoding, request]);
    const result = adjusted.get(key) ?? (await adjust(source, { mix, request, input }, deps));
    adjusted.set(key, result);
    byOutput.set(output, [...(byOutput.get(output) ?? []), result]);
  }
  return {
    outputs: outputs.map((spec) => withGains(spec, byOutput.get(spec.index) ?? [])),
    reports: new Map([...byOutput].map(([output, results]) => [output, results.map(({ report }) => report)])),
  };
}

function keyOf({ layout, trim, isAdjusted, track }: LoudnessMix): string {
  const { streamIndex, merged = [], file, prepared } = track;
  const streams = merged.map((part) => part.streamIndex);
  return JSON.stringify([layout, trim, isAdjusted, streamIndex, streams, file?.name, prepared]);
}

type Deps = RunDeps & Pick<TaskDeps, "capabilities">;
type Adjusted = { readonly mix: LoudnessMix; readonly gain: ChosenGain; readonly report: LoudnessMetadata };

/** The loudness of mixes before any gain, by `keyOf`. Mixes that start at the same point of the source share a run. */
async function measureAll(
  source: LoudnessWork,
  mixes: readonly LoudnessMix[],
  deps: Deps,
): Promise<ReadonlyMap<string, MeasuredLoudness>> {
  const measured = new Map<string, MeasuredLoudness>();
  for (const group of Map.groupBy(mixes, ({ trim }) => trim.seekMs).values()) {
    await withFiles(source, planMeasurement(source, source.tracks, group), deps, async (files) => {
      for (const [at, mix] of group.entries()) {
        const loudness = await loudnessIn(files, at);
        if (loudness) measured.set(keyOf(mix), loudness);
      }
    });
  }
  return measured;
}

/** The later corrections are for sources whose loudness comes mostly from peaks, and for codecs that raise peaks. */
const MOST_TRIALS = 4;

/**
 * Chooses the gain. If a limiter or the codec changes the loudness or the peaks, a trial encodes and measures the
 * audio, and corrects the gain and the limit.
 */
async function adjust(
  source: LoudnessWork,
  { mix, input, request }: Omit<Wanted, "output"> & { readonly input: MeasuredLoudness },
  deps: Deps,
): Promise<Adjusted> {
  let gain = chooseGain(input, request);
  let trial: Trial | null = null;
  const trials = mix.isAdjusted && input.integrated >= QUIET_LUFS && needsTrial(mix, gain) ? MOST_TRIALS : 0;
  for (let at = 1; at <= trials; at++) {
    trial = await tryGain(source, mix, gain, deps);
    const corrected = trial && at < trials ? correctGain(gain, trial.loudness, request) : null;
    if (!corrected) break;
    gain = corrected;
  }
  const { gainDb } = gain;
  const linear = { integrated: hundredths(input.integrated + gainDb), true_peak: hundredths(input.true_peak + gainDb) };
  const { integrated, true_peak } = trial?.loudness ?? linear;
  const note = missNote(input, gain, { integrated, true_peak }, request);
  return {
    mix,
    gain,
    report: {
      ...(mix.number === null ? {} : { track: mix.number }),
      layout: mix.layout,
      input,
      gain_db: gainDb,
      limited_seconds: trial?.limitedSeconds ?? 0,
      output: { integrated, true_peak },
      ...(note === null ? {} : { note }),
    },
  };
}

type Trial = { readonly loudness: MeasuredLoudness; readonly limitedSeconds: number };

/** 100 bytes for each 0.1 s: 600 MB for a week of audio. */
const MAX_PEAKS_BYTES = 700e6;

/** Null if the audio is too short, or if this node lacks the encoder: the encode then fails with the reason. */
async function tryGain(source: LoudnessWork, mix: LoudnessMix, gain: ChosenGain, deps: Deps): Promise<Trial | null> {
  const run = planTrial(source, source.tracks, mix, gain, deps.capabilities);
  if (!run) return null;
  return withFiles(source, run, deps, async (files) => {
    const { limitDb } = gain;
    const peaks = limitDb === null ? "" : await readText(files.pathOf(PEAKS_FILE), MAX_PEAKS_BYTES);
    const path = files.pathOf(TRIAL_FILE);
    const measurement = planTrialMeasurement(path, source.tracks, mix);
    const trial = { folder: source.folder, source: path };
    const loudness = await withFiles(trial, measurement, deps, (measured) => loudnessIn(measured, 0));
    return loudness && { loudness, limitedSeconds: limitDb === null ? 0 : limitedSeconds(peaks, limitDb) };
  });
}

/** Longer than the final block of values for eight channels. ffmpeg prints a block every 0.1 s. */
const LAST_VALUES_BYTES = 4096;

const loudnessIn = async (files: RunFiles, at: number): Promise<MeasuredLoudness | null> =>
  readLoudness(await readEnd(files.pathOf(loudnessFile(at)), LAST_VALUES_BYTES));

/** Runs one command, uses its files and removes them. */
async function withFiles<Value>(
  work: ServedSource & Pick<LoudnessWork, "folder">,
  run: PlannedRun,
  deps: Deps,
  use: (files: RunFiles) => Promise<Value>,
): Promise<Value> {
  const files = await RunFiles.create(work.folder);
  try {
    await runOnSource(work, [run], files, deps);
    return await use(files);
  } finally {
    await files.remove();
  }
}

function withGains(spec: OutputSpec, all: readonly Adjusted[]): OutputSpec {
  if (!hasTracks(spec) || !spec.loudness) return spec;
  const adjusted = all.filter(({ mix }) => mix.isAdjusted);
  const gains = adjusted.map(({ mix: { number, layout }, gain }) => ({
    ...(number === null ? {} : { track: number }),
    layout,
    ...gain,
  }));
  return { ...spec, loudness: { ...spec.loudness, gains } };
}
