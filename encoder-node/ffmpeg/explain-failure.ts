// Turns the last words of a failed command into a code of the error table and one plain sentence.
import { assertNever, type ErrorCode, type Failure } from "#shared/errors.ts";
import { type CommandFailure, TOO_MANY_FRAMES } from "./run-command.ts";

type Pattern = { readonly seen: RegExp; readonly code: ErrorCode; readonly message: string };

/** First match wins: what the machine lacks says more than what failed because of it. */
const PATTERNS: readonly Pattern[] = [
  {
    seen: /No space left on device|Disk quota exceeded|File too large/i,
    code: "node_failed",
    message: "The node has no disk space left for this work",
  },
  {
    seen: /Cannot allocate memory|malloc of size .* failed|bad_alloc/i,
    code: "node_failed",
    message: "The node has not enough memory for this work",
  },
  {
    seen: /^Cannot start \w+: |^setpriv: failed to execute|error while loading shared libraries/im,
    code: "node_failed",
    message: "The node could not start its encoder program",
  },
  {
    seen: /Unknown encoder|Encoder not found|Cannot load libcuda|No (?:NVENC )?capable devices found|OpenEncodeSessionEx failed/i,
    code: "encoder_not_available",
    message: "The node's ffmpeg lacks an encoder that this output needs",
  },
  {
    // Only of the input as a whole: single frames that cannot be decoded are said to hold invalid data, too.
    seen: /moov atom not found|^Error opening input files: Invalid data found|^(?:file:|\/)[^\n]*: Invalid data found/im,
    code: "input_not_media",
    message: "The input is damaged or no media file that can be read",
  },
  { seen: new RegExp(TOO_MANY_FRAMES), code: "encoding_failed", message: TOO_MANY_FRAMES },
];

/** Lines that tell that something failed, not what. */
const EMPTY_WORDS = new RegExp(
  `^(?:${[
    "Conversion failed!",
    "Exiting normally",
    "Last message repeated",
    "Nothing was written",
    "At least one output file",
    "Error (?:opening|parsing options for) (?:in|out)put file",
    "Error sending frames to consumers",
    "Error while (?:decoding|filtering|opening encoder)",
    "Error initializing (?:output stream|filters|a simple filtergraph|complex filters)",
    "Error selecting an encoder",
    "Error splitting the argument list",
    "Could not open encoder before EOF",
    "Task finished with error",
    "Terminating thread",
    "To ignore this, add",
    "Failed to set value",
    "Error parsing global options",
    "Device creation failed",
    "ffmpeg: \\S+: load_library: Assertion",
  ].join("|")})`,
);

/** Longest part of ffmpeg's own words that is passed on. */
const MAX_QUOTE = 300;

/**
 * Why a command failed. The sentence may be shown to clients: it names no folder of this machine.
 */
export function explainFailure(stderrTail: string, exit: Pick<CommandFailure, "reason" | "exitCode">): Failure {
  if (exit.reason === "aborted") return { code: "cancelled", message: "The work was cancelled." };
  const known = PATTERNS.find(({ seen }) => seen.test(stderrTail));
  if (known) return { code: known.code, message: `${known.message}.` };
  switch (exit.reason) {
    case "stalled":
      return { code: "encoding_failed", message: "The encode stood still and was stopped." };
    case "signal":
      return { code: "node_failed", message: "The encode was killed on its node, most likely for lack of memory." };
    case "exit": {
      const words = lastWords(stderrTail) ?? `exit code ${exit.exitCode ?? "unknown"}`;
      return { code: "encoding_failed", message: `The encode failed: ${words}.` };
    }
    default:
      return assertNever(exit.reason);
  }
}

/** The last line that says what went wrong, without log prefixes, folders and final stop; null when nothing was said. */
export function lastWords(stderrTail: string): string | null {
  const lines = stderrTail
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^(?:\[[^\]]*\]\s*)+/, "").trim())
    .filter((line) => line !== "");
  const line = lines.findLast((text) => !EMPTY_WORDS.test(text)) ?? lines.at(-1);
  return line === undefined ? null : withoutFolders(line).slice(0, MAX_QUOTE).replace(/\.+$/, "");
}

/**
 * Leaves of each path its last part only. A path reaches to the next quote, colon or line end, because folders may hold
 * spaces: rather a word too few than a user's name too many.
 */
function withoutFolders(line: string): string {
  return line.replace(
    /(^|[\s'"=(])(?:file:)?(?:\/[^/'":\n]*)+/g,
    (path, before: string) => before + path.slice(path.lastIndexOf("/") + 1),
  );
}
