// Runs the plan for a task's outputs. What hardware fails at is done in software, and if a command fails then, its outputs
// are made one by one, so that only the guilty fails.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import type { PlannedOutput } from "#shared/plan/output-plan.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import type { PlannedCommand, PlannedRun } from "#shared/plan/planned-command.ts";
import type { TaskOf } from "#shared/protocol.ts";
import { explainFailure } from "../ffmpeg/explain-failure.ts";
import { progressFraction } from "../ffmpeg/read-progress.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { isBusy } from "../ffmpeg/trial.ts";
import type { Publications, Publisher } from "../publish/publisher.ts";
import { checkOutput, type FailedOutput, type MadeOutput, type Origin } from "./check-output.ts";
import { type Extras, fetchExtras } from "./fetch-extras.ts";
import { inParallel } from "./in-parallel.ts";
import { softwareNotes } from "./software-notes.ts";
import type { TaskDeps } from "./task-deps.ts";

/** ffmpeg that makes no headway for so long is stuck. At the end it rewrites a large file for minutes without a word. */
const STALL_MS = 300_000;
/** Results that are looked at the same time: an output may be one of dozens. */
const PARALLEL_CHECKS = 4;

/** What encoding made of an output. */
export type Encoded = MadeOutput | FailedOutput;

export type EncodeWork = {
  readonly task: TaskOf<"encode">;
  /** Path of the source on this node's disk. */
  readonly source: string;
  /** The workspace. */
  readonly folder: string;
  readonly publisher: Publisher;
};

/** Makes all outputs of the task, but for those whose watermark or subtitles are not to be had. */
export async function encodeOutputs(work: EncodeWork, deps: TaskDeps): Promise<Encoded[]> {
  const { outputs } = work.task;
  const { failed, ...extras } = await fetchExtras(outputs, work.folder, deps);
  const wanted = outputs.filter(({ index }) => !failed.some(({ output }) => output === index));
  return [...failed, ...(await planAndRun({ ...work, ...extras, notes: new Map() }, wanted, deps))];
}

type EquippedWork = EncodeWork &
  Extras & {
    /** By output: that hardware failed at it. Then none is used. */
    readonly notes: ReadonlyMap<number, string>;
  };

async function planAndRun(work: EquippedWork, outputs: readonly OutputSpec[], deps: TaskDeps): Promise<Encoded[]> {
  const { commands, refusals } = planEncode({
    source: work.source,
    probe: work.task.probe,
    outputs,
    can: work.notes.size > 0 ? { ...deps.capabilities, hardware: null } : deps.capabilities,
    watermarks: work.watermarks,
  });
  const encoded: Encoded[] = refusals.map(({ output, failure }) => ({ output, failure }));
  const runs = commands.reduce((sum, command) => sum + command.runs.length, 0);
  let before = 0;
  for (const command of commands) {
    const start = before;
    const tell = (done: number): void => deps.progress("encoding", (start + done) / runs);
    encoded.push(...(await makeOutputs(work, command, tell, deps)));
    before += command.runs.length;
  }
  return encoded;
}

/** `tell` takes how many of the command's runs are done, with a fraction for the one that is under way. */
async function makeOutputs(
  work: EquippedWork,
  command: PlannedCommand,
  tell: (done: number) => void,
  deps: TaskDeps,
): Promise<Encoded[]> {
  // A folder for each command: what a failed one left behind must not pass for the work of the next.
  const folder = await mkdtemp(join(work.folder, "run-"));
  const publications = await work.publisher.follow(command.outputs, folder, work.subtitles);
  const failed = await runAll(command.runs, folder, tell, deps);
  deps.signal.throwIfAborted();
  if (!failed) {
    const checked = await checkOutputs(command.outputs, work, folder, publications, deps);
    return keepOrRepeat(checked, command, work, deps);
  }
  await Promise.all([...publications.values()].map((publication) => publication.stop()));
  await rm(folder, { recursive: true, force: true });
  const { failure, busy } = failed;
  deps.log.warn("ffmpeg failed", { outputs: command.outputs.length, code: failure.code, error: failure.message });
  const notes = softwareNotes(command.outputs, busy);
  if (notes.size > 0) return planAndRun({ ...work, notes }, specsOf(work, command.outputs), deps);
  if (command.outputs.length === 1) return command.outputs.map(({ output }) => ({ output, failure }));
  const alone: Encoded[] = [];
  for (const output of command.outputs) alone.push(...(await planAndRun(work, specsOf(work, [output]), deps)));
  return alone;
}

const specsOf = ({ task }: EncodeWork, outputs: readonly PlannedOutput[]): OutputSpec[] =>
  task.outputs.filter(({ index }) => outputs.some(({ output }) => output === index));

/** Says how each was made; what hardware made unusable is made again in software. */
async function keepOrRepeat(
  encoded: readonly Encoded[],
  command: PlannedCommand,
  work: EquippedWork,
  deps: TaskDeps,
): Promise<Encoded[]> {
  const failed = new Set(encoded.flatMap((each) => ("failure" in each ? [each.output] : [])));
  const notes = softwareNotes(
    command.outputs.filter(({ output }) => failed.has(output)),
    false,
  );
  const kept = encoded.filter(({ output }) => !notes.has(output)).map((each) => described(each, command, work));
  if (notes.size === 0) return kept;
  const again = command.outputs.filter(({ output }) => notes.has(output));
  return [...kept, ...(await planAndRun({ ...work, notes }, specsOf(work, again), deps))];
}

function described(encoded: Encoded, { outputs }: PlannedCommand, { notes }: EquippedWork): Encoded {
  if ("failure" in encoded) return encoded;
  const encoder = outputs.find(({ output }) => output === encoded.output)?.encoder;
  const note = notes.get(encoded.output);
  return { ...encoded, ...(encoder ? { encoder } : {}), ...(note ? { note } : {}) };
}

async function checkOutputs(
  outputs: readonly PlannedOutput[],
  origin: Origin,
  folder: string,
  publications: Publications,
  deps: TaskDeps,
): Promise<Encoded[]> {
  for (const { file, text } of outputs.flatMap(({ texts = [] }) => texts)) await writeFile(join(folder, file), text);
  return inParallel(outputs, PARALLEL_CHECKS, (planned) =>
    checkOutput(planned, origin, folder, publications.get(planned.output), deps),
  );
}

/** `busy`: a GPU had no session left. */
type RunFailure = { readonly failure: Failure; readonly busy: boolean };

/** Answers why the first run that failed did so, or null. */
async function runAll(
  runs: readonly PlannedRun[],
  folder: string,
  tell: (done: number) => void,
  deps: TaskDeps,
): Promise<RunFailure | null> {
  for (const [at, run] of runs.entries()) {
    const failure = await runOne(run, folder, (fraction) => tell(at + fraction), deps);
    if (failure) return failure;
  }
  return null;
}

async function runOne(
  run: PlannedRun,
  folder: string,
  tell: (fraction: number) => void,
  deps: TaskDeps,
): Promise<RunFailure | null> {
  deps.log.info("ffmpeg starts", { argv: run.argv.join(" ") });
  const result = await runCommand({
    path: deps.ffmpeg.path,
    argv: run.argv,
    cwd: folder,
    signal: deps.signal,
    stallMs: STALL_MS,
    expectedFrames: run.expectedFrames,
    onProgress: (progress) => tell(progressFraction(progress, run)),
  });
  if (result.ok) return null;
  return { failure: explainFailure(result.stderrTail, result), busy: isBusy(result.stderrTail) };
}
