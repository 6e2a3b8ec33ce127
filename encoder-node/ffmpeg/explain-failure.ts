// Turns the last words of a failed command into a code of the error table and one plain sentence.
import { assertNever, type ErrorCode, type Failure } from "#shared/errors.ts";
import { REFUSED_DECODER, refusedDecoderMessage } from "#shared/media/decoders.ts";
import type { Breach } from "./limits.ts";
import type { CommandFailure } from "./run-command.ts";
import { NOT_STARTED } from "./sandbox/sandbox.ts";

type Pattern = { readonly seen: RegExp; readonly code: ErrorCode; readonly message: string };

/**
 * libswresample (swr_next_pts), which goes on as if nothing was wrong. It holds all of a gap in memory that is to be filled with
 * silence, so that a small file may ask for more than there is.
 */
export const GAP_NOT_FILLED = /Failed to compensate for timestamp delta/;

/** No frame came out of a decoder, or hardly any. */
const UNDECODED = /Cannot determine format of input|Decode error rate [\d.]+ exceeds/;

/** By which ffmpeg ends when more frames failed than `-max_error_rate` allows; version 5 says no word of it. */
const MOSTLY_UNDECODED = 69;

/** The same of one kind: from version 7 on lines begin with the part that they are of, such as `[vist#0:0/h264 @ 0x5]`. */
function undecoded(kind: "v" | "a"): RegExp {
  const part = `^\\[${kind}`;
  return new RegExp(`${part}ist#[^\\n]*Decode error rate|Cannot determine format of input[^\\n]*\\n+${part}f#`, "m");
}

/** First match wins: what the machine lacks says more than what failed because of it. */
const PATTERNS: readonly Pattern[] = [
  {
    seen: /No space left on device|Disk quota exceeded|File too large/i,
    code: "node_failed",
    message: "The node has no disk space left for this work",
  },
  {
    // A packet's announced size is refused in these words before any memory is asked for (libavcodec, av_new_packet).
    seen: /Error during demuxing: Cannot allocate memory/,
    code: "encoding_failed",
    message: "The input is damaged: it announces more data at once than any media file holds",
  },
  {
    seen: GAP_NOT_FILLED,
    code: "node_failed",
    message:
      "The input's sound has a gap so long that silence for it needs more memory than the node can give to one run",
  },
  {
    seen: /Cannot allocate memory|malloc of size .* failed|bad_alloc/i,
    code: "node_failed",
    message: "The work needs more memory than its node can give to one run",
  },
  {
    seen: new RegExp(`${NOT_STARTED.source}|^Cannot start \\w+: |error while loading shared libraries`, "im"),
    code: "node_failed",
    message: "The node could not start its encoder program",
  },
  {
    seen: /Unknown encoder|Encoder not found|Cannot load libcuda|No (?:NVENC )?capable devices found|OpenEncodeSessionEx failed/i,
    code: "encoder_not_available",
    message: "The node's ffmpeg lacks an encoder that this output needs",
  },
  {
    seen: /^Decoder \(codec [^)]*\) not found|Error while opening decoder: Experimental feature/m,
    code: "input_codec_not_supported",
    message: "The input has a stream that this node's ffmpeg cannot decode; convert it to a common codec first",
  },
  { seen: undecoded("v"), code: "encoding_failed", message: "The input's video cannot be decoded; it may be damaged" },
  { seen: undecoded("a"), code: "encoding_failed", message: "The input's audio cannot be decoded; it may be damaged" },
  {
    // ffmpeg 5 and 6 name the stream by its number only.
    seen: UNDECODED,
    code: "encoding_failed",
    message: "The input's video or audio cannot be decoded; it may be damaged",
  },
  {
    // Only of the input as a whole: single frames that cannot be decoded are said to hold invalid data, too.
    seen: /moov atom not found|^Error opening input files: Invalid data found|^(?:file:|\/)[^\n]*: Invalid data found/im,
    code: "input_not_media",
    message: "The input is damaged or no media file that can be read",
  },
];

/** Of limits.ts. What this node lacks, another may have; the rest is the doing of the input. */
const BREACHES: Readonly<Record<Breach, Failure>> = {
  frames: { code: "encoding_failed", message: "The input yields far more frames than it announces." },
  time: {
    code: "encoding_failed",
    message: "The encode took far longer than work of this length may, and was stopped.",
  },
  file: { code: "encoding_failed", message: "The encode wrote a file far larger than its length explains." },
  disk: { code: "node_failed", message: "The node has no disk space left for this work." },
};

const isBreach = (reason: CommandFailure["reason"]): reason is Breach => Object.hasOwn(BREACHES, reason);

/** By which a program ends that does wrong, as opposed to those that come from outside. */
export const CRASHES: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGTRAP",
  "SIGSYS",
]);

/** Lines that tell that something failed, not what. */
const EMPTY_WORDS = new RegExp(
  `^(?:${[
    "Codec \\(\\S+\\) not on whitelist",
    "Conversion failed!",
    "Exiting normally",
    "Last message repeated",
    "Nothing was written",
    "At least one output file",
    "Error (?:opening|parsing options for) (?:in|out)put file",
    "Error sending frames to consumers",
    "Error marking filters as finished",
    "Error binding filtergraph",
    "Error submitting packet to decoder",
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
export function explainFailure(stderrTail: string, exit: Omit<CommandFailure, "ok" | "stderrTail">): Failure {
  if (exit.reason === "aborted") return { code: "cancelled", message: "The work was cancelled." };
  if (isBreach(exit.reason)) return BREACHES[exit.reason];
  const refused = refusedDecoder(stderrTail);
  if (refused !== null) return { code: "input_codec_not_supported", message: refusedDecoderMessage(refused) };
  const known = PATTERNS.find(({ seen }) => seen.test(stderrTail));
  if (known) return { code: known.code, message: `${known.message}.` };
  switch (exit.reason) {
    case "stalled":
      return { code: "encoding_failed", message: "The encode stood still and was stopped." };
    case "signal":
      if (CRASHES.has(exit.signal ?? "")) {
        return { code: "encoding_failed", message: `The encoder program crashed on this input (${exit.signal}).` };
      }
      return { code: "node_failed", message: "The encode was killed on its node, most likely for lack of memory." };
    case "exit": {
      if (exit.exitCode === MOSTLY_UNDECODED) {
        const message = "Most of the input's video or audio cannot be decoded; it may be damaged.";
        return { code: "encoding_failed", message };
      }
      const words = lastWords(stderrTail) ?? `exit code ${exit.exitCode ?? "unknown"}`;
      return { code: "encoding_failed", message: `The encode failed: ${words}.` };
    }
    default:
      return assertNever(exit.reason);
  }
}

/**
 * The decoder that was refused to a stream that the run needs; null when there is none. ffmpeg complains as well of streams
 * that it only looks at, and goes on.
 */
function refusedDecoder(stderrTail: string): string | null {
  return /Error while opening decoder/.test(stderrTail) ? (REFUSED_DECODER.exec(stderrTail)?.[1] ?? null) : null;
}

/** The last line that says what went wrong, without log prefixes, folders and final stop; null when nothing was said. */
export function lastWords(stderrTail: string): string | null {
  const lines = stderrTail
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^(?:\[[^\]]*\]\s*)+/, "").trim())
    .filter((line) => line !== "");
  const line = lines.findLast((text) => !EMPTY_WORDS.test(text)) ?? lines.at(-1);
  return line === undefined
    ? null
    : withoutFolders(line)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, MAX_QUOTE)
        .replace(/\.+$/, "");
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
