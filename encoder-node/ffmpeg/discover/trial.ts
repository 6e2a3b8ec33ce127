// Tries encoders by encoding a frame with each.
import { tmpdir } from "node:os";
import { lastErrorLine } from "../error-lines.ts";
import { runCommand } from "../run-command.ts";
import type { CommandFailure } from "../run-tool.ts";
import type { Tool } from "./locate.ts";

export type TrialResult =
  | { readonly works: true }
  /** `busy`: the encoder exists, but all its sessions are in use. */
  | { readonly works: false; readonly busy: boolean; readonly reason: string };

/** A trial succeeds within 0.1 s or fails within 0.6 s (ffmpeg 7 waits for its threads); slower on a loaded machine. */
const TRIAL_LIMIT_MS = 10_000;

export type TrialOptions = {
  readonly limitMs?: number | undefined;
  /** True if the encoder is a hardware encoder. False by default. */
  readonly inHardware?: boolean;
};

/**
 * Runs the trial of an encoder, which must write no file. A trial that exceeds `limitMs` is killed and counts as
 * failed.
 */
export async function runTrial(
  ffmpeg: Tool,
  trial: readonly string[],
  { limitMs = TRIAL_LIMIT_MS, inHardware = false }: TrialOptions = {},
): Promise<TrialResult> {
  const argv = ["-v", "error", "-nostdin", ...trial];
  // Without `-progress` nothing resets the stall timeout, so it limits the whole run.
  const run = { path: ffmpeg.path, argv, cwd: tmpdir(), stallMs: limitMs, writesNothing: true, inHardware };
  const result = await runCommand(run);
  if (result.ok) return { works: true };
  return { works: false, busy: isBusy(result.stderrTail), reason: reasonOf(result, limitMs) };
}

/** The reason in a clause. A run that was stopped has no error line about it. */
function reasonOf({ reason, stderrTail, exitCode }: CommandFailure, limitMs: number): string {
  if (reason === "stalled") return `no frame within ${limitMs / 1000} s`;
  if (reason === "time") return "it exceeded its time limit";
  if (reason === "disk") return "no disk space is left";
  return lastErrorLine(stderrTail) ?? (exitCode === null ? "ffmpeg crashed" : `exit code ${exitCode}`);
}

/**
 * True if an encode failed only because all sessions of the GPU are in use. GeForce drivers allow a few at a time.
 * Older drivers report a session too many as NV_ENC_ERR_OUT_OF_MEMORY, newer drivers as
 * NV_ENC_ERR_INCOMPATIBLE_CLIENT_KEY.
 */
export const isBusy = (stderr: string): boolean =>
  /OpenEncodeSessionEx failed: (?:out of memory \(10\)|incompatible client key \(21\))/.test(stderr);

/** The number of concurrent trials. Each keeps about a core busy, mostly with loading the program. */
const PARALLEL_TRIALS = 4;

/** Runs the trials of several encoders, a few at a time. The results are in the order of `encoders`. */
export async function runTrials<Encoder>(
  ffmpeg: Tool,
  encoders: readonly Encoder[],
  trialOf: (encoder: Encoder) => readonly string[],
  options: TrialOptions = {},
): Promise<[Encoder, TrialResult][]> {
  const results: [Encoder, TrialResult][] = [];
  const queue = encoders.entries();
  const runner = async (): Promise<void> => {
    for (const [at, encoder] of queue) results[at] = [encoder, await runTrial(ffmpeg, trialOf(encoder), options)];
  };
  await Promise.all(Array.from({ length: PARALLEL_TRIALS }, runner));
  return results;
}
