// Encodes of one frame: what an encoder is worth shows only when it is used.
import { tmpdir } from "node:os";
import { lastWords } from "../explain-failure.ts";
import { type CommandFailure, runCommand } from "../run-command.ts";
import type { Tool } from "./locate.ts";

export type TrialResult =
  | { readonly works: true }
  /** `busy`: the encoder is there, and all that it can do at a time is being done. */
  | { readonly works: false; readonly busy: boolean; readonly reason: string };

/** Works within 0.1 s, fails within 0.6 s (ffmpeg 7 waits that long for its threads), slower on a loaded machine. */
const TRIAL_LIMIT_MS = 10_000;

/** Runs a trial of `shared/plan/encoders/encoders.ts`. One that takes longer than `limitMs` is killed and does not work. */
export async function runTrial(ffmpeg: Tool, trial: readonly string[], limitMs = TRIAL_LIMIT_MS): Promise<TrialResult> {
  const argv = ["-v", "error", "-nostdin", ...trial];
  // Without `-progress` nothing puts off the stall watch, so that it bounds the whole run.
  const result = await runCommand({ path: ffmpeg.path, argv, cwd: tmpdir(), stallMs: limitMs, writesNothing: true });
  if (result.ok) return { works: true };
  return { works: false, busy: isBusy(result.stderrTail), reason: wordsOf(result, limitMs) };
}

/** In a clause. Who was stopped had no last words on that. */
function wordsOf({ reason, stderrTail, exitCode }: CommandFailure, limitMs: number): string {
  if (reason === "stalled") return `no frame within ${limitMs / 1000} s`;
  if (reason === "time") return "it used up its time";
  if (reason === "disk") return "no disk space is left";
  return lastWords(stderrTail) ?? (exitCode === null ? "ffmpeg crashed" : `exit code ${exitCode}`);
}

/**
 * Whether an encode failed only because the GPU's sessions are all taken. GeForce drivers allow a few at a time; the older
 * call one too many NV_ENC_ERR_OUT_OF_MEMORY, the newer NV_ENC_ERR_INCOMPATIBLE_CLIENT_KEY.
 */
export const isBusy = (stderr: string): boolean =>
  /OpenEncodeSessionEx failed: (?:out of memory \(10\)|incompatible client key \(21\))/.test(stderr);

/** Trials at the same time: each keeps about one core busy, mostly with loading the program. */
const PARALLEL_TRIALS = 4;

/** Runs the trials of several encoders, a few at a time. Results are in the order of `encoders`. */
export async function runTrials<Encoder>(
  ffmpeg: Tool,
  encoders: readonly Encoder[],
  trialOf: (encoder: Encoder) => readonly string[],
  limitMs?: number,
): Promise<[Encoder, TrialResult][]> {
  const results: [Encoder, TrialResult][] = [];
  const queue = encoders.entries();
  const runner = async (): Promise<void> => {
    for (const [at, encoder] of queue) results[at] = [encoder, await runTrial(ffmpeg, trialOf(encoder), limitMs)];
  };
  await Promise.all(Array.from({ length: PARALLEL_TRIALS }, runner));
  return results;
}
