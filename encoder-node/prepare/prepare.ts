// Prepares the outputs of a task for their plan: brings the files that they need besides the source's tracks to this
// node's disk, and finds the gains and rate factors with which they are encoded.
import { AppError, failureOf } from "#shared/errors.ts";
import type { LoudnessMetadata } from "#shared/job/loudness.ts";
import { hasTracks, type OutputSpec, withBitmaps } from "#shared/job/output-spec.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { textsName } from "#shared/plan/outputs/plan-file.ts";
import type { AudioFile } from "#shared/plan/source/source-tracks.ts";
import { outputTexts, speechOf } from "#shared/plan/text/choose-texts.ts";
import { textTracks } from "#shared/plan/text/text-tracks.ts";
import { type MadeOutput, withNote } from "../outputs/check-output.ts";
import type { Encoded } from "../outputs/deliver-outputs.ts";
import { probeSmallFile } from "../source/probe/probe.ts";
import type { SubtitleFiles } from "../text/subtitle-cues.ts";
import { madeFile } from "../upload/made-file.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { fetchAudio, fetchWatermarks } from "./fetch-extra.ts";
import { type FoundGains, findGains, type LoudnessWork } from "./find-gains.ts";
import { findTargets, type TargetWork } from "./find-targets.ts";
import { addNotes, outputTextFiles } from "./output-texts.ts";
import { withPackedTexts } from "./pack-texts.ts";
import { prepareCaptions } from "./prepare-captions.ts";
import { type SourceTexts, sourceTexts } from "./read-texts.ts";

/** The measures that a task takes. A measure does nothing for outputs that do not ask for it. */
export type Measure = "watermarks" | "texts" | "audio" | "captions" | "gains" | "targets";

export type PrepareWork = TargetWork & {
  readonly outputs: readonly OutputSpec[];
  /** The text of the source; left out: read from the source. */
  readonly texts?: SourceTexts;
  /** Receives outputs that failed, and outputs that are text, as soon as their end is known. May throw. */
  readonly onEnded: (outputs: readonly Encoded[]) => void;
};

/** Inputs of the plan, the runs and the reports of the outputs. */
export type Prepared = TargetWork & {
  /** The outputs to plan, in the order of the request. */
  readonly outputs: readonly OutputSpec[];
  /** Files by the names that the planner gives them. */
  readonly textTracks: ReadonlyMap<string, string>;
  readonly audioFiles: readonly AudioFile[];
  /** The text tracks of streams. */
  readonly subtitles: SubtitleFiles;
  /** By output. */
  readonly loudness: ReadonlyMap<number, LoudnessMetadata[]>;
  /** By output. */
  readonly targets: ReadonlyMap<number, TargetMetadata[]>;
  /** Adds loudness, targets, and the note about text that the output lacks. */
  readonly describe: (encoded: Encoded) => Encoded;
};

/** Rejects with AppError `node_failed` for errors of this machine, as `onEnded` does, and with the signal's reason. */
export async function prepare(measures: readonly Measure[], work: PrepareWork, deps: TaskDeps): Promise<Prepared> {
  const { outputs: _, texts: _texts, onEnded, ...source } = work;
  const { ready, subtitles, notes, speech, ...files } = await attachFiles(measures, work, deps);
  const read = { ...source, ...files };
  const gains = measures.includes("gains") ? await gainsOf(read, ready, onEnded, deps) : withoutReports(ready);
  const targets = measures.includes("targets")
    ? await findTargets(read, gains.outputs, deps)
    : withoutReports(gains.outputs);
  const describe = (encoded: Encoded): Encoded => {
    if ("failure" in encoded) return encoded;
    const loudness = gains.reports.get(encoded.output);
    const searched = targets.reports.get(encoded.output);
    const reports = { ...(loudness ? { loudness } : {}), ...(searched ? { targets: searched } : {}) };
    return withNote({ ...encoded, ...reports, ...speech.get(encoded.output) }, notes.get(encoded.output));
  };
  return { ...read, outputs: targets.outputs, subtitles, loudness: gains.reports, targets: targets.reports, describe };
}

const withoutReports = (outputs: readonly OutputSpec[]) => ({ outputs, reports: new Map<number, never>() });

/** Brings all files to this node's disk. `ready`: the outputs that have theirs. */
async function attachFiles(measures: readonly Measure[], work: PrepareWork, deps: TaskDeps) {
  const { outputs, folder, onEnded } = work;
  const { ffprobe, allowPrivate, signal } = deps;
  const fetching = { ffprobe, allowPrivate, signal };
  const outputsFor = (measure: Measure): readonly OutputSpec[] => (measures.includes(measure) ? outputs : []);
  const texts = work.texts ?? (await sourceTexts(outputsFor("texts"), work, deps));
  const watermarks = await fetchWatermarks(outputsFor("watermarks"), folder, fetching);
  const text = await outputTextFiles(
    { ...work, texts, isJoined: work.texts !== undefined, outputs: outputsFor("texts") },
    deps,
  );
  const audio = await fetchAudio(outputsFor("audio"), folder, fetching);
  const captions = await prepareCaptions({ ...work, texts, outputs: outputsFor("captions") }, deps);
  for (const [output, note] of captions.notes) addNotes(text.notes, output, [note]);
  const speech = speechReports(outputs, work.probe, texts);
  const failed = [watermarks, text, audio, captions].flatMap((files) => files.failed);
  onEnded(failed);
  for (const [output, path] of text.texts) {
    onEnded([withNote({ ...(await textOutput(output, path, deps)), ...speech.get(output) }, text.notes.get(output))]);
  }
  const remaining = outputs.filter(
    ({ index, type }) => type !== "text" && !failed.some(({ output }) => output === index),
  );
  const { burns } = captions;
  const ready = remaining.map((spec) => {
    const texted = measures.includes("texts") ? withPackedTexts(spec, text.packed.get(spec.index)) : spec;
    return withBitmaps(texted, burns?.bitmaps.get(spec.index));
  });
  return {
    ready,
    watermarks: watermarks.files,
    audioFiles: [...audio.files.values()],
    textTracks: new Map([...text.packed].map(([output, { path }]) => [textsName(output), path])),
    subtitles: text.subtitles,
    notes: text.notes,
    speech,
    burns,
  };
}

/** By output: the recognized speech in its text. */
const speechReports = (outputs: readonly OutputSpec[], probe: MediaProbe, { channels }: SourceTexts) =>
  new Map(
    outputs.flatMap((spec) => {
      const speech = speechOf(outputTexts(spec, textTracks(probe), channels));
      return speech.length === 0 ? [] : [[spec.index, { speech }] as const];
    }),
  );

async function textOutput(output: number, path: string, { ffprobe, signal }: TaskDeps): Promise<MadeOutput> {
  return { output, files: [await madeFile(path)], probe: await probeSmallFile(ffprobe, path, signal) };
}

/** Finds the gains of outputs with `loudness`. Outputs whose audio cannot be measured fail. */
async function gainsOf(
  work: LoudnessWork,
  outputs: readonly OutputSpec[],
  onEnded: PrepareWork["onEnded"],
  deps: TaskDeps,
): Promise<FoundGains> {
  try {
    return await findGains(work, outputs, deps);
  } catch (error) {
    deps.signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    const isMeasured = (spec: OutputSpec): boolean => hasTracks(spec) && spec.loudness !== undefined;
    const failure = failureOf(error);
    onEnded(outputs.filter(isMeasured).map(({ index }) => ({ output: index, failure })));
    return { outputs: outputs.filter((spec) => !isMeasured(spec)), reports: new Map() };
  }
}

/** For tasks whose result all outputs need: throws AppError with the failure of an output. */
export function failOnFailedOutput(ended: readonly Encoded[]): void {
  for (const output of ended) if ("failure" in output) throw AppError.from(output.failure);
}
