// Runs the plan for a task's outputs; if a command fails, its outputs are made one by one, so that only the guilty fails.
import { mkdtemp, rm } from "node:fs/promises";
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
import { checkOutput, type MadeOutput } from "./check-output.ts";
import type { TaskDeps } from "./task-deps.ts";

/** ffmpeg that makes no headway for so long is stuck. At the end it rewrites a large file for minutes without a word. */
const STALL_MS = 300_000;
/** Results that are looked at the same time: an output may be one of dozens. */
const PARALLEL_CHECKS = 4;

/** What encoding made of an output. */
export type Encoded = MadeOutput | { output: number; failure: Failure };

export type EncodeWork = {
  readonly task: TaskOf<"encode">;
  /** Path of the source on this node's disk. */
  readonly source: string;
  /** The workspace. */
  readonly folder: string;
};

/** Makes all outputs of the task. */
export async function encodeOutputs(work: EncodeWork, deps: TaskDeps): Promise<Encoded[]> {
  return planAndRun(work, work.task.outputs, deps);
}

async function planAndRun(work: EncodeWork, outputs: readonly OutputSpec[], deps: TaskDeps): Promise<Encoded[]> {
  const { commands, refusals } = planEncode({ source: work.source, probe: work.task.probe, outputs });
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
  work: EncodeWork,
  command: PlannedCommand,
  tell: (done: number) => void,
  deps: TaskDeps,
): Promise<Encoded[]> {
  // A folder for each command: what a failed one left behind must not pass for the work of the next.
  const folder = await mkdtemp(join(work.folder, "run-"));
  const failure = await runAll(command.runs, folder, tell, deps);
  deps.signal.throwIfAborted();
  if (!failure) return checkOutputs(command.outputs, work.task, folder, deps);
  await rm(folder, { recursive: true, force: true });
  deps.log.warn("ffmpeg failed", { outputs: command.outputs.length, code: failure.code, error: failure.message });
  if (command.outputs.length === 1) return command.outputs.map(({ output }) => ({ output, failure }));
  const alone: Encoded[] = [];
  for (const { output } of command.outputs) {
    const spec = work.task.outputs.filter(({ index }) => index === output);
    alone.push(...(await planAndRun(work, spec, deps)));
  }
  return alone;
}

async function checkOutputs(
  outputs: readonly PlannedOutput[],
  task: TaskOf<"encode">,
  folder: string,
  deps: TaskDeps,
): Promise<Encoded[]> {
  const queue = outputs.values();
  const checked: Encoded[] = [];
  const checker = async (): Promise<void> => {
    for (const planned of queue) checked.push(await checkOutput(planned, task, folder, deps));
  };
  await Promise.all(Array.from({ length: PARALLEL_CHECKS }, checker));
  return checked;
}

/** Answers why the first run that failed did so, or null. */
async function runAll(
  runs: readonly PlannedRun[],
  folder: string,
  tell: (done: number) => void,
  deps: TaskDeps,
): Promise<Failure | null> {
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
): Promise<Failure | null> {
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
  return result.ok ? null : explainFailure(result.stderrTail, result);
}
