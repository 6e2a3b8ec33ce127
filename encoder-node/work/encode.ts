// The task `encode`: make all outputs with one ffmpeg process; if that fails, one by one, so that only the guilty fails.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import { type PlannedCommand, type PlannedOutput, planEncode } from "#shared/plan/plan-encode.ts";
import type { TaskOf, TaskResult } from "#shared/protocol.ts";
import { explainFailure } from "../ffmpeg/explain-failure.ts";
import { progressFraction } from "../ffmpeg/read-progress.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { checkOutput, type MadeOutput } from "./check-output.ts";
import { acquireSource, type TaskDeps } from "./task-deps.ts";
import { uploadOutputs } from "./upload-outputs.ts";
import { inWorkspace } from "./workspace.ts";

/** ffmpeg that makes no headway for so long is stuck. At the end it rewrites a large file for minutes without a word. */
const STALL_MS = 300_000;
/** Results that are looked at the same time: an output may be one of dozens. */
const PARALLEL_CHECKS = 4;

/** What encoding made of an output. */
type Encoded = MadeOutput | { output: number; failure: Failure };

export async function encode(task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> {
  const source = await acquireSource(deps);
  try {
    return await inWorkspace(deps.workFolder, async (folder) => {
      deps.progress("encoding", 0);
      const encoded = await encodeOutputs(task, task.outputs, source.path, folder, deps);
      deps.progress("uploading", 0);
      const made = encoded.filter((output): output is MadeOutput => !("failure" in output));
      const failed = encoded.flatMap((output) =>
        "failure" in output ? [{ status: "failed" as const, output: output.output, failure: output.failure }] : [],
      );
      return { kind: "encode", outputs: [...(await uploadOutputs(made, deps)), ...failed] };
    });
  } finally {
    source.release();
  }
}

/** Encodes outputs together; if that fails, each alone. */
async function encodeOutputs(
  task: TaskOf<"encode">,
  outputs: readonly OutputSpec[],
  source: string,
  folder: string,
  deps: TaskDeps,
): Promise<Encoded[]> {
  const { command, refusals } = planEncode({ source, probe: task.probe, outputs });
  if (!command) return refusals.map(({ output, failure }) => ({ output, failure }));
  // A folder for each run: what a failed one left behind must not pass for the work of the next.
  const own = await mkdtemp(join(folder, "run-"));
  const failure = await runPlanned(command, own, deps);
  deps.signal.throwIfAborted();
  if (!failure) return [...(await checkOutputs(command.outputs, task, own, deps)), ...refusals];
  await rm(own, { recursive: true, force: true });
  deps.log.warn("ffmpeg failed", { outputs: outputs.length, code: failure.code, error: failure.message });
  if (command.outputs.length === 1) return [...command.outputs.map(({ output }) => ({ output, failure })), ...refusals];
  const alone: Encoded[] = [];
  for (const output of outputs) alone.push(...(await encodeOutputs(task, [output], source, folder, deps)));
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

/** Runs one planned command; answers why it failed, or null. */
async function runPlanned(command: PlannedCommand, folder: string, deps: TaskDeps): Promise<Failure | null> {
  const { path } = deps.ffmpeg;
  deps.log.info("ffmpeg starts", { argv: command.argv.join(" ") });
  const result = await runCommand({
    path,
    argv: command.argv,
    cwd: folder,
    signal: deps.signal,
    stallMs: STALL_MS,
    expectedFrames: command.expectedFrames,
    onProgress: (progress) => deps.progress("encoding", progressFraction(progress, command)),
  });
  return result.ok ? null : explainFailure(result.stderrTail, result);
}
