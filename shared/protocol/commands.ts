// ffmpeg runs that a node reports at the end of a task, or while somebody looks at it, for its client to read. They
// decide nothing.
import * as z from "zod";
import { MAX_LENGTH_MS } from "../report-limits.ts";

/** Maximum JSON characters of all commands of an attempt. */
export const MAX_COMMAND_CHARS = 16_384;
/** Maximum number of commands of an attempt. */
export const MAX_COMMANDS = 200;

/** Text of several lines, without other control characters. */
const Lines = z
  .string()
  .max(MAX_COMMAND_CHARS)
  .regex(/^[^\p{Cs}\p{Cc}]*(?:[\n\t][^\p{Cs}\p{Cc}]*)*$/u, "contains a control character");

export const CommandReport = z.object({
  argv: z.array(Lines).max(MAX_COMMAND_CHARS),
  /** `afterMs`: time from the node's start of the lease to the start of the run. `tookMs`: duration of the run. */
  afterMs: z.int().min(0).max(MAX_LENGTH_MS),
  tookMs: z.int().min(0).max(MAX_LENGTH_MS),
  /** Null if a signal ended the run, or if it still runs. */
  exitCode: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31)
    .nullable(),
  signal: z
    .string()
    .regex(/^SIG[A-Z0-9+]{1,12}$/, "not a signal")
    .exactOptional(),
  /** End of stderr, if the run failed or still runs. */
  stderrTail: Lines.exactOptional(),
});
export type CommandReport = z.infer<typeof CommandReport>;

export const charsOf = (commands: readonly CommandReport[]): number => JSON.stringify(commands).length;

/** Commands in the order of their runs. */
export const CommandReports = z
  .array(CommandReport)
  .max(MAX_COMMANDS)
  .refine((commands) => charsOf(commands) <= MAX_COMMAND_CHARS, `more than ${MAX_COMMAND_CHARS} characters`);
