// Runs the plan for a task's outputs. When a hardware encoder fails, its outputs are encoded in software. When a
// command fails in software, its outputs are encoded individually: only the outputs that cause the failure fail.
import { AppError, failureOf } from "#shared/errors.ts";
import { hasTracks, type OutputSpec, withBitmaps } from "#shared/job/output-spec.ts";
import type { PlannedCommand, PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { textsName } from "#shared/plan/outputs/plan-file.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { similarVideos } from "#shared/plan/vmaf/similar-videos.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { mapLimited } from "../../async/in-parallel.ts";
import { checkOutput, type MadeOutput, type RunResult } from "../../outputs/check-output.ts";
import type { Encoded } from "../../outputs/deliver-outputs.ts";
import type { EarlyUploads } from "../../outputs/early-uploads.ts";
import { type Attachments, fetchExtras } from "../../prepare/attachments.ts";
import { type FoundGains, findGains, type LoudnessWork } from "../../prepare/find-gains.ts";
import { type FoundTargets, findTargets } from "../../prepare/find-targets.ts";
import { bitmapReader, channelsOf, textReader } from "../../prepare/read-texts.ts";
import { type OnRuns, runAll } from "../../prepare/run-planned.ts";
import type { Publications, Publisher } from "../../publish/publisher.ts";
import { writeText } from "../../run-files/open-file.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { probeSmallFile } from "../../source/probe/probe.ts";
import { madeFile } from "../../upload/made-file.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import type { EncodeDeps } from "./encode-source.ts";
import { openMeasuring } from "./measure-outputs.ts";

/** Outputs that are checked at the same time: a task may have dozens. */
const PARALLEL_CHECKS = 4;

export type EncodeWork = {
  /** Receives each output once, as soon as it is encoded and checked, or has failed. */
  readonly onEncoded: (outputs: readonly Encoded[]) => void;
  readonly task: TaskOf<"encode">;
  /** The path of the source on this node's disk, or with `loopbackOptions` the URL at which the node serves it. */
  readonly source: string;
  readonly loopbackOptions?: readonly string[];
  /** The workspace. */
  readonly folder: string;
  readonly publisher: Publisher;
  readonly uploads: EarlyUploads;
};

/** Makes all outputs of the task, except outputs whose watermark or subtitles cannot be fetched. */
export async function encodeOutputs(requested: EncodeWork, encodeDeps: EncodeDeps): Promise<void> {
  const work = withLoggedFailures(requested, encodeDeps);
  const { outputs } = work.task;
  const { source, loopbackOptions, folder } = work;
  const { probe } = work.task;
  const read = { source, ...(loopbackOptions ? { loopbackOptions } : {}) };
  const texts = { ...read, probe, folder };
  const readTexts = textReader(texts, encodeDeps);
  const channels = await channelsOf(outputs, texts, encodeDeps);
  const readBitmaps = bitmapReader(texts, encodeDeps);
  const extrasWork = { outputs, probe, folder, readTexts, readBitmaps, channels };
  const { failed, burns, ...extras } = await fetchExtras(extrasWork, encodeDeps);
  const deps = { ...encodeDeps, burns };
  const remaining = outputs.filter(
    ({ index, type }) => type !== "text" && !failed.some(({ output }) => output === index),
  );
  work.onEncoded(failed);
  for (const [output, path] of extras.texts) {
    work.onEncoded([addMissingTracksNote(await madeText(output, path, deps), extras.lacking)]);
  }
  const equipped = { ...work, ...extras, notes: new Map() };
  const inputs = { ...read, watermarks: extras.watermarks };
  const texted = remaining.map((spec) =>
    withBitmaps(withTextTracks(spec, extras.textTracks), burns?.bitmaps.get(spec.index)),
  );
  const { audioFiles } = extras;
  const leveled = await withGains({ ...inputs, folder, probe, audioFiles }, texted, work.onEncoded, deps);
  const searched = await findTargets({ ...inputs, folder, probe }, leveled.outputs, deps);
  const dissimilar = withoutSimilar(work.task, searched);
  const task = { ...work.task, outputs: dissimilar };
  const measuring = openMeasuring({ ...inputs, task, folder }, deps);
  const onEncoded: EncodeWork["onEncoded"] = (encoded) =>
    work.onEncoded(
      measuring.add(
        encoded.map((each) => addMissingTracksNote(withLoudness(searched.withTargets(each), leveled), extras.lacking)),
      ),
    );
  await planAndRun({ ...equipped, task, onEncoded }, dissimilar, deps);
  await measuring.run();
}

/** Finds the gains of outputs with `loudness`. Outputs whose audio cannot be measured fail. */
async function withGains(
  work: LoudnessWork,
  outputs: readonly OutputSpec[],
  onEncoded: EncodeWork["onEncoded"],
  deps: EncodeDeps,
): Promise<FoundGains> {
  try {
    return await findGains(work, outputs, deps);
  } catch (error) {
    deps.signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    const isMeasured = (spec: OutputSpec): boolean => hasTracks(spec) && spec.loudness !== undefined;
    const failure = failureOf(error);
    onEncoded(outputs.filter(isMeasured).map(({ index }) => ({ output: index, failure })));
    return { outputs: outputs.filter((spec) => !isMeasured(spec)), reports: new Map() };
  }
}

function withLoudness(encoded: Encoded, { reports }: FoundGains): Encoded {
  const loudness = reports.get(encoded.output);
  return loudness && !("failure" in encoded) ? { ...encoded, loudness } : encoded;
}

/** The subtitles of a video with the traits that were found; none if its input has none of them. */
export function withTextTracks(spec: OutputSpec, tracks: Attachments["textTracks"]): OutputSpec {
  if (spec.type !== "video") return spec;
  const { subtitles: _, ...plain } = spec;
  const traits = tracks.get(spec.index)?.traits;
  if (!traits) return plain;
  const subtitles = traits.map(({ default: isDefault, isForced = false, isCaptions = false }) => ({
    default: isDefault,
    forced: isForced,
    kind: isCaptions ? ("captions" as const) : ("subtitles" as const),
  }));
  return { ...plain, subtitles };
}

async function madeText(output: number, path: string, deps: EncodeDeps): Promise<MadeOutput> {
  return { output, files: [await madeFile(path)], probe: await probeSmallFile(deps.ffprobe, path, deps.signal) };
}

/** Adds the note about text tracks that the output lacks. */
export function addMissingTracksNote<Made extends Encoded>(encoded: Made, lacking: Attachments["lacking"]): Made {
  const note = lacking.get(encoded.output);
  if (note === undefined || "failure" in encoded) return encoded;
  return { ...encoded, note: [encoded.note, note].filter((sentence) => sentence !== undefined).join(" ") };
}

/** Logs each failed output by its number: the task may still complete. */
const withLoggedFailures = (work: EncodeWork, { log }: EncodeDeps): EncodeWork => ({
  ...work,
  onEncoded: (encoded) => {
    for (const { output, ...rest } of encoded) {
      if ("failure" in rest)
        log.warn("output failed", { output, code: rest.failure.code, error: rest.failure.message });
    }
    work.onEncoded(encoded);
  },
});

type EquippedWork = EncodeWork &
  Attachments & {
    /** By output: a note that the hardware encoder failed. With any note, no hardware is used. */
    readonly notes: ReadonlyMap<number, string>;
  };

async function planAndRun(work: EquippedWork, outputs: readonly OutputSpec[], deps: EncodeDeps): Promise<void> {
  const { commands, failures } = planEncode({
    source: work.source,
    ...(work.loopbackOptions ? { loopbackOptions: work.loopbackOptions } : {}),
    probe: work.task.probe,
    outputs,
    capabilities: work.notes.size > 0 ? { ...deps.capabilities, hardware: null } : deps.capabilities,
    watermarks: work.watermarks,
    audioFiles: work.audioFiles,
    textTracks: new Map([...work.textTracks].map(([output, { path }]) => [textsName(output), path])),
    imagesFirst: true,
    uploadsEarly: true,
  });
  work.onEncoded(failures.map(({ output, failure }) => ({ output, failure })));
  const runs = commands.reduce((sum, command) => sum + countedRuns(command, commands), 0);
  deps.log.debug("encode planned", {
    outputs: outputs.length,
    failures: failures.length,
    commands: commands.length,
    runs,
  });
  let before = 0;
  for (const command of commands) {
    const start = before;
    const counted = countedRuns(command, commands);
    const onProgress: OnRuns = (done, rate) =>
      deps.progress("encoding", (start + Math.min(done, counted)) / runs, rate);
    await makeOutputs(work, command, onProgress, deps);
    before += counted;
  }
}

/** The runs that count for the progress: images beside videos take negligible time. */
function countedRuns({ runs, outputs }: PlannedCommand, commands: readonly PlannedCommand[]): number {
  const isOfImages = (each: Pick<PlannedCommand, "outputs">): boolean =>
    each.outputs.every(({ encoder, stream }) => encoder === undefined && !stream);
  return isOfImages({ outputs }) && !commands.every(isOfImages) ? 0 : runs.length;
}

async function makeOutputs(
  work: EquippedWork,
  command: PlannedCommand,
  onProgress: OnRuns,
  deps: EncodeDeps,
): Promise<void> {
  // A new folder for each command: files of a failed command must not pass for files of the next command.
  const files = await RunFiles.create(work.folder);
  const publications = await work.publisher.follow(command.outputs, files, work.subtitles);
  const uploads = work.uploads.follow(command.outputs, files);
  const useless = abortedWhenAllBroken(command.outputs, publications);
  const onRuns: OnRuns = (done, rate) => {
    // The last run writes the files.
    uploads.progressed(done - command.runs.length + 1);
    onProgress(done, rate);
  };
  const failed = await runAll(command.runs, files, onRuns, {
    ...deps,
    reads: [
      ...(work.loopbackOptions ? [] : [work.source]),
      ...work.watermarks.values(),
      ...[...work.textTracks.values()].map(({ path }) => path),
    ],
    signal: AbortSignal.any([deps.signal, useless]),
  });
  deps.signal.throwIfAborted();
  if (!failed || useless.aborted) {
    const result = { task: work.task, files, publications, uploads: uploads.byOutput };
    const checked = await checkOutputs(command.outputs, result, deps);
    return keepOrRepeat(checked, command, work, deps);
  }
  await Promise.all([...publications.values(), uploads].map((each) => each.stop()));
  await files.remove();
  const { failure, busy } = failed;
  deps.log.warn("ffmpeg failed", { outputs: command.outputs.length, code: failure.code, error: failure.message });
  const notes = softwareNotes(command.outputs, busy);
  if (notes.size > 0) return planAndRun({ ...work, notes }, specsOf(work, command.outputs), deps);
  if (command.outputs.length === 1) return work.onEncoded(command.outputs.map(({ output }) => ({ output, failure })));
  for (const output of command.outputs) await planAndRun(work, specsOf(work, [output]), deps);
}

/**
 * Aborts when all outputs are streams that cannot be completed, for example because the storage failed: then encoding
 * can stop.
 */
function abortedWhenAllBroken(outputs: readonly PlannedOutput[], publications: Publications): AbortSignal {
  const all = new AbortController();
  const signals = outputs.map(({ output }) => publications.get(output)?.broken);
  const check = (): void => {
    if (signals.every((signal) => signal?.aborted)) all.abort();
  };
  for (const signal of signals) signal?.addEventListener("abort", check);
  return all.signal;
}

const specsOf = ({ task }: EncodeWork, outputs: readonly PlannedOutput[]): OutputSpec[] =>
  task.outputs.filter(({ index }) => outputs.some(({ output }) => output === index));

/**
 * Adds encoder and note to each output. Outputs that a hardware encoder made unusable are encoded again in software.
 */
async function keepOrRepeat(
  encoded: readonly Encoded[],
  command: PlannedCommand,
  work: EquippedWork,
  deps: EncodeDeps,
): Promise<void> {
  const failed = new Set(encoded.flatMap((each) => ("failure" in each ? [each.output] : [])));
  const notes = softwareNotes(
    command.outputs.filter(({ output }) => failed.has(output)),
    false,
  );
  const valid = encoded.filter(({ output }) => !notes.has(output)).map((each) => described(each, command, work));
  work.onEncoded(valid);
  if (notes.size === 0) return;
  const again = command.outputs.filter(({ output }) => notes.has(output));
  await planAndRun({ ...work, notes }, specsOf(work, again), deps);
}

/** By output: a note for the client; empty when no output was to be encoded in hardware. */
function softwareNotes(outputs: readonly PlannedOutput[], busy: boolean): ReadonlyMap<number, string> {
  const cause = busy ? "was busy" : "failed";
  return new Map(
    outputs
      .filter(({ inHardware }) => inHardware)
      .map(({ output, encoder }) => [output, `Encoded in software, because the hardware encoder ${encoder} ${cause}.`]),
  );
}

function described(encoded: Encoded, { outputs }: PlannedCommand, { notes }: EquippedWork): Encoded {
  if ("failure" in encoded) return encoded;
  const { encoder, note: planned } = outputs.find(({ output }) => output === encoded.output) ?? {};
  const note = [planned, notes.get(encoded.output)].filter((sentence) => sentence !== undefined).join(" ");
  return { ...encoded, ...(encoder ? { encoder } : {}), ...(note ? { note } : {}) };
}

async function checkOutputs(outputs: readonly PlannedOutput[], result: RunResult, deps: TaskDeps): Promise<Encoded[]> {
  for (const { file, text } of outputs.flatMap(({ texts = [] }) => texts)) {
    await writeText(result.files.pathOf(file), text);
  }
  return mapLimited(outputs, PARALLEL_CHECKS, (planned) => checkOutput(planned, result, deps));
}

// Leaves out videos of streams that save few bits, before anything is encoded.

/** Returns the outputs with their rate factors. Streams that drop similar variants know which variants these are. */
export function withoutSimilar(
  { probe, outputs }: TaskOf<"encode">,
  { outputs: searched, kbpsOf }: FoundTargets,
): OutputSpec[] {
  const source = chooseTracks(probe);
  return searched.map((spec) => {
    const requested = outputs.find(({ index }) => index === spec.index);
    if (spec.type !== "httpstream" || requested?.type !== "httpstream") return spec;
    const dropped = similarVideos(requested, source, (_, video) => kbpsOf(spec.index, video));
    return dropped.length > 0 ? { ...spec, dropped } : spec;
  });
}
