// Runs the plan for a task's outputs. What hardware fails at is done in software, and if a command fails then, its outputs
// are made one by one, so that only the guilty fails.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { PlannedOutput } from "#shared/plan/command/output-plan.ts";
import type { PlannedCommand } from "#shared/plan/command/planned-command.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import type { TaskOf } from "#shared/protocol/protocol.ts";
import { inParallel } from "../../async/in-parallel.ts";
import type { Publications, Publisher } from "../../publish/publisher.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { checkOutput, type Origin } from "./check-output.ts";
import type { Encoded } from "./deliver-outputs.ts";
import { type Extras, fetchExtras } from "./fetch-extras.ts";
import { runAll } from "./run-planned.ts";
import { softwareNotes } from "./software-notes.ts";

/** Results that are looked at the same time: an output may be one of dozens. */
const PARALLEL_CHECKS = 4;

export type EncodeWork = {
  /** Takes outputs as soon as they are encoded and looked at, or have failed; each comes once. */
  readonly take: (ended: readonly Encoded[]) => void;
  readonly task: TaskOf<"encode">;
  /** Path of the source on this node's disk. */
  readonly source: string;
  /** The workspace. */
  readonly folder: string;
  readonly publisher: Publisher;
};

/** Makes all outputs of the task, except those whose watermark or subtitles are not to be had. */
export async function encodeOutputs(work: EncodeWork, deps: TaskDeps): Promise<void> {
  const { outputs } = work.task;
  const { failed, ...extras } = await fetchExtras(outputs, work.folder, deps);
  const wanted = outputs.filter(({ index }) => !failed.some(({ output }) => output === index));
  work.take(failed);
  await planAndRun({ ...work, ...extras, notes: new Map() }, wanted, deps);
}

type EquippedWork = EncodeWork &
  Extras & {
    /** By output: that hardware failed at it. Then none is used. */
    readonly notes: ReadonlyMap<number, string>;
  };

async function planAndRun(work: EquippedWork, outputs: readonly OutputSpec[], deps: TaskDeps): Promise<void> {
  const { commands, refusals } = planEncode({
    source: work.source,
    probe: work.task.probe,
    outputs,
    can: work.notes.size > 0 ? { ...deps.capabilities, hardware: null } : deps.capabilities,
    watermarks: work.watermarks,
    imagesFirst: true,
  });
  work.take(refusals.map(({ output, failure }) => ({ output, failure })));
  const runs = commands.reduce((sum, command) => sum + countedRuns(command, commands), 0);
  let before = 0;
  for (const command of commands) {
    const start = before;
    const counted = countedRuns(command, commands);
    const tell = (done: number): void => deps.progress("encoding", (start + Math.min(done, counted)) / runs);
    await makeOutputs(work, command, tell, deps);
    before += counted;
  }
}

/** The runs that the progress counts: images that are made beside videos take no time worth speaking of. */
function countedRuns({ runs, outputs }: PlannedCommand, commands: readonly PlannedCommand[]): number {
  const isOfImages = (each: Pick<PlannedCommand, "outputs">): boolean =>
    each.outputs.every(({ encoder, stream }) => encoder === undefined && !stream);
  return isOfImages({ outputs }) && !commands.every(isOfImages) ? 0 : runs.length;
}

/** `tell` takes how many of the command's runs are done, with a fraction for the one that is under way. */
async function makeOutputs(
  work: EquippedWork,
  command: PlannedCommand,
  tell: (done: number) => void,
  deps: TaskDeps,
): Promise<void> {
  // A folder for each command: what a failed one left behind must not pass for the work of the next.
  const folder = await mkdtemp(join(work.folder, "run-"));
  const publications = await work.publisher.follow(command.outputs, folder, work.subtitles);
  const useless = whenAllBroken(command.outputs, publications);
  const failed = await runAll(command.runs, folder, tell, {
    ...deps,
    reads: [work.source, ...work.watermarks.values()],
    signal: AbortSignal.any([deps.signal, useless]),
  });
  deps.signal.throwIfAborted();
  if (!failed || useless.aborted) {
    const checked = await checkOutputs(command.outputs, work, folder, publications, deps);
    return keepOrRepeat(checked, command, work, deps);
  }
  await Promise.all([...publications.values()].map((publication) => publication.stop()));
  await rm(folder, { recursive: true, force: true });
  const { failure, busy } = failed;
  deps.log.warn("ffmpeg failed", { outputs: command.outputs.length, code: failure.code, error: failure.message });
  const notes = softwareNotes(command.outputs, busy);
  if (notes.size > 0) return planAndRun({ ...work, notes }, specsOf(work, command.outputs), deps);
  if (command.outputs.length === 1) return work.take(command.outputs.map(({ output }) => ({ output, failure })));
  for (const output of command.outputs) await planAndRun(work, specsOf(work, [output]), deps);
}

/** Aborts when all of the outputs are streams whose storage has failed, say: then the encoding can end. */
function whenAllBroken(outputs: readonly PlannedOutput[], publications: Publications): AbortSignal {
  const all = new AbortController();
  const signals = outputs.map(({ output }) => publications.get(output)?.broken);
  const look = (): void => {
    if (signals.every((signal) => signal?.aborted)) all.abort();
  };
  for (const signal of signals) signal?.addEventListener("abort", look);
  return all.signal;
}

const specsOf = ({ task }: EncodeWork, outputs: readonly PlannedOutput[]): OutputSpec[] =>
  task.outputs.filter(({ index }) => outputs.some(({ output }) => output === index));

/** Says how each was made; what hardware made unusable is made again in software. */
async function keepOrRepeat(
  encoded: readonly Encoded[],
  command: PlannedCommand,
  work: EquippedWork,
  deps: TaskDeps,
): Promise<void> {
  const failed = new Set(encoded.flatMap((each) => ("failure" in each ? [each.output] : [])));
  const notes = softwareNotes(
    command.outputs.filter(({ output }) => failed.has(output)),
    false,
  );
  const kept = encoded.filter(({ output }) => !notes.has(output)).map((each) => described(each, command, work));
  work.take(kept);
  if (notes.size === 0) return;
  const again = command.outputs.filter(({ output }) => notes.has(output));
  await planAndRun({ ...work, notes }, specsOf(work, again), deps);
}

function described(encoded: Encoded, { outputs }: PlannedCommand, { notes }: EquippedWork): Encoded {
  if ("failure" in encoded) return encoded;
  const { encoder, note: planned } = outputs.find(({ output }) => output === encoded.output) ?? {};
  const note = [planned, notes.get(encoded.output)].filter((sentence) => sentence !== undefined).join(" ");
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
