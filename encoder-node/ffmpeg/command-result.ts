// The result of a run of an ffmpeg tool.
import type { ExceededLimit } from "./limits.ts";

export type CommandFailure = {
  readonly ok: false;
  /**
   * `signal`: the tool crashed, or the system killed it because memory ran out. `exit` with code 0: stderr reports a
   * failure that the exit code hides.
   */
  readonly reason: "exit" | "signal" | "stalled" | "aborted" | ExceededLimit;
  readonly exitCode: number | null;
  /** The signal that ended the tool, when `reason` is `signal`. */
  readonly signal?: NodeJS.Signals;
  /** The last 8 KB of stderr. */
  readonly stderrTail: string;
};
export type CommandResult = { readonly ok: true } | CommandFailure;

/** Signals that a program causes by its own fault. All others come from outside. */
export const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGTRAP",
  "SIGSYS",
]);
