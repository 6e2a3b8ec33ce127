// The runs of ffmpeg that a node reports with the end of a task, for its client to read. Nothing is decided by them.
import * as z from "zod";
import { MAX_LENGTH_MS } from "../report-limits.ts";

/** Characters of all commands of one attempt, in JSON. */
export const MAX_COMMAND_CHARS = 16_384;
/** Commands of one attempt. */
export const MAX_COMMANDS = 200;

/** Text of several lines, without other control characters. */
const Lines = z
  .string()
  .max(MAX_COMMAND_CHARS)
  .regex(/^[^\p{Cs}\p{Cc}]*(?:[\n\t][^\p{Cs}\p{Cc}]*)*$/u, "contains a control character");

export const CommandReport = z.object({
  argv: z.array(Lines).max(MAX_COMMAND_CHARS),
  /** When it started after the node took the lease, and how long it ran. */
  afterMs: z.int().min(0).max(MAX_LENGTH_MS),
  tookMs: z.int().min(0).max(MAX_LENGTH_MS),
  /** Null when a signal ended it. */
  exitCode: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31)
    .nullable(),
  signal: z
    .string()
    .regex(/^SIG[A-Z0-9+]{1,12}$/, "not a signal")
    .exactOptional(),
  /** The end of what it printed, if it failed. */
  stderrTail: Lines.exactOptional(),
});
export type CommandReport = z.infer<typeof CommandReport>;

export const charsOf = (commands: readonly CommandReport[]): number => JSON.stringify(commands).length;

/** In the order in which they ran. */
export const CommandReports = z
  .array(CommandReport)
  .max(MAX_COMMANDS)
  .refine((commands) => charsOf(commands) <= MAX_COMMAND_CHARS, `more than ${MAX_COMMAND_CHARS} characters`);
