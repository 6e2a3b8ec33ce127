// Turns the end of a failed command into a code of the error table and a sentence for the client.
import { isAbsolute } from "node:path";
import { assertNever, type ErrorCode, type Failure } from "#shared/errors.ts";
import { DISALLOWED_DECODER, disallowedDecoderMessage } from "#shared/media/decoders.ts";
import { lastErrorLine, UNFILLED_AUDIO_GAP } from "./error-lines.ts";
import type { ExceededLimit } from "./limits.ts";
import { type CommandFailure, CRASH_SIGNALS } from "./run-tool.ts";
import { SANDBOX_FAILURE } from "./sandbox/program.ts";

type Pattern = { readonly stderr: RegExp; readonly code: ErrorCode; readonly message: string };

/** A decoder produced no frame, or hardly any. */
const UNDECODED = /Cannot determine format of input|Decode error rate [\d.]+ exceeds/;

/** The exit code when more frames fail than `-max_error_rate` allows. Version 5 prints no message for it. */
const MOSTLY_UNDECODED = 69;

/**
 * `UNDECODED` for one kind of stream. Since version 7, lines start with a component such as `[vist#0:0/h264 @ 0x5]`.
 */
function undecoded(kind: "v" | "a"): RegExp {
  const component = `^\\[${kind}`;
  return new RegExp(
    `${component}ist#[^\\n]*Decode error rate|Cannot determine format of input[^\\n]*\\n+${component}f#`,
    "m",
  );
}

const NO_DISK_SPACE = "The encoder node has no disk space left; free space on the node, then retry the job";
const damaged = (streams: string): string =>
  `${streams} cannot be decoded; the file may be damaged, so export it again`;

/** The first match wins. Missing resources of the machine come first, because they cause other failures. */
const PATTERNS: readonly Pattern[] = [
  {
    stderr: /No space left on device|Disk quota exceeded|File too large/i,
    code: "node_failed",
    message: NO_DISK_SPACE,
  },
  {
    // libavcodec (av_new_packet) rejects a packet's declared size with this message before it asks for any memory.
    stderr: /Error during demuxing: Cannot allocate memory/,
    code: "encoding_failed",
    message: "The input is damaged: it declares a packet larger than any in a media file; export the input again",
  },
  {
    stderr: UNFILLED_AUDIO_GAP,
    code: "node_failed",
    message:
      "The input's audio has a gap so long that filling it with silence needs more memory than one run may use; " +
      "remove the gap, or use a node with more memory",
  },
  {
    stderr: /Cannot allocate memory|malloc of size \d+ failed|bad_alloc/i,
    code: "node_failed",
    message: "The encode needs more memory than one run may use; choose a smaller size, or use a node with more memory",
  },
  {
    stderr: new RegExp(`${SANDBOX_FAILURE.source}|^Cannot start \\w+: |error while loading shared libraries`, "im"),
    code: "node_failed",
    message: "The encoder node could not start ffmpeg; check the ffmpeg installation on the node",
  },
  {
    stderr:
      /Unknown encoder|Encoder not found|Cannot load libcuda|No (?:NVENC )?capable devices found|OpenEncodeSessionEx failed/i,
    code: "encoder_not_available",
    message: "The encoder node's ffmpeg lacks an encoder that this output needs; choose another codec or another node",
  },
  {
    stderr: /^Decoder \(codec .*?\) not found|Error while opening decoder: Experimental feature/m,
    code: "input_codec_not_supported",
    message: "The input has a stream that the node's ffmpeg cannot decode; convert it to a common codec first",
  },
  {
    // The muxers of Matroska, MPEG-TS and FLV.
    stderr: /write packet with unknown timestamp|first pts (?:and dts )?value must be set|Packet is missing PTS/,
    code: "copy_not_possible",
    message: "The input's packets lack timestamps, which a copy into this container needs; encode the input instead",
  },
  {
    stderr: /Error muxing a packet|Error submitting a packet to the muxer/,
    code: "encoding_failed",
    message:
      "The container does not take the packets of this output; choose another container, or encode instead of copying",
  },
  {
    // The AAC encoder, for samples that are not numbers.
    stderr: /Input contains \(near\) NaN/,
    code: "encoding_failed",
    message: "The input's audio is damaged: its samples are not valid; export the input again",
  },
  { stderr: undecoded("v"), code: "encoding_failed", message: damaged("The input's video") },
  { stderr: undecoded("a"), code: "encoding_failed", message: damaged("The input's audio") },
  {
    stderr: /Neither number of channels nor channel layout specified/,
    code: "encoding_failed",
    message: "The input's audio states no channels; the audio may be missing or damaged, so export the input again",
  },
  {
    // ffmpeg 5 and 6 name the stream only by its number.
    stderr: UNDECODED,
    code: "encoding_failed",
    message: damaged("The video or audio of the input"),
  },
  {
    // Only for the input as a whole: ffmpeg also reports "Invalid data" for single frames that it cannot decode.
    stderr: /moov atom not found|^Error opening input files: Invalid data found|^(?:file:|\/).*: Invalid data found/im,
    code: "input_not_media",
    message: "The input is damaged or not a media file; check that the source is a media file",
  },
];

/** The last resort, if no line states more. */
const REJECTED_FRAMES: Pattern = {
  stderr: /Error reinitializing filters/,
  code: "encoding_failed",
  message:
    "The input's video or audio has properties that ffmpeg's filters do not support, or changes to them midway; convert " +
    "the input to a common format first",
};

/** Failures for exceeded limits. Another node may have more disk space; the other limits depend on the input alone. */
const LIMIT_FAILURES: Readonly<Record<ExceededLimit, Failure>> = {
  frames: {
    code: "encoding_failed",
    message: "The input has far more frames than its header declares; export it again with a correct header.",
  },
  time: {
    code: "encoding_failed",
    message: "The encode ran far longer than the input's duration allows and was stopped; split the input.",
  },
  file: {
    code: "encoding_failed",
    message: "The encode wrote a file far larger than its duration allows and was stopped; lower the bitrate.",
  },
  files: {
    code: "encoding_failed",
    message: "The encode made far more files than an output can have and was stopped.",
  },
  disk: { code: "node_failed", message: `${NO_DISK_SPACE}.` },
};

/** The input that ffmpeg cannot open, as the arguments name it. Versions before 6.1 print only the second line. */
const UNOPENED = /^(?:Error opening input file (.+)\.|((?:file:|\/).*): Invalid data found.*)$/m;

/** True if ffmpeg cannot open a file that this node wrote, such as the text tracks of an output. */
function isOwnFile(stderrTail: string, workFolder: string): boolean {
  const [, name, older] = UNOPENED.exec(stderrTail) ?? [];
  const path = (name ?? older)?.replace(/^file:/, "");
  if (path === undefined || /^https?:/.test(path)) return false;
  return !isAbsolute(path) || path.startsWith(`${workFolder}/`);
}

const OWN_FILE: Failure = {
  code: "encoding_failed",
  message: "The encode failed: ffmpeg could not read a file that the encoder node made for it.",
};

const isExceededLimit = (reason: CommandFailure["reason"]): reason is ExceededLimit =>
  Object.hasOwn(LIMIT_FAILURES, reason);

/**
 * Explains why a command failed. Clients may see the message, so it names no folder of this machine. `workFolder`: the
 * folder of the files that the node writes for its tasks; the source is elsewhere.
 */
export function explainFailure(
  stderrTail: string,
  exit: Omit<CommandFailure, "ok" | "stderrTail">,
  workFolder: string,
): Failure {
  if (exit.reason === "aborted") return { code: "cancelled", message: "The task was cancelled." };
  if (isExceededLimit(exit.reason)) return LIMIT_FAILURES[exit.reason];
  const decoder = refusedDecoder(stderrTail);
  if (decoder !== null) return { code: "input_codec_not_supported", message: disallowedDecoderMessage(decoder) };
  const known = [...PATTERNS, REJECTED_FRAMES].find(({ stderr }) => stderr.test(stderrTail));
  if (known?.code === "input_not_media" && isOwnFile(stderrTail, workFolder)) return OWN_FILE;
  if (known) return { code: known.code, message: `${known.message}.` };
  switch (exit.reason) {
    case "stalled":
      return { code: "encoding_failed", message: "The encode made no progress and was stopped; retry the job." };
    case "signal":
      return signalFailure(exit.signal);
    case "exit": {
      if (exit.exitCode === MOSTLY_UNDECODED) {
        return { code: "encoding_failed", message: `${damaged("Most of the video or audio of the input")}.` };
      }
      const line = lastErrorLine(stderrTail) ?? `exit code ${exit.exitCode ?? "unknown"}`;
      return { code: "encoding_failed", message: `The encode failed: ${line}.` };
    }
    default:
      return assertNever(exit.reason);
  }
}

function signalFailure(signal: NodeJS.Signals | undefined): Failure {
  if (CRASH_SIGNALS.has(signal ?? "")) {
    const message = `ffmpeg crashed on this input (${signal}); convert the input to another format first.`;
    return { code: "encoding_failed", message };
  }
  return {
    code: "node_failed",
    message: "ffmpeg was killed on the encoder node, most likely because memory ran out; retry the job.",
  };
}

/**
 * Returns the decoder that ffmpeg was not allowed to open for a stream that the run needs, or null. ffmpeg also
 * complains about streams that the run does not need, and continues.
 */
function refusedDecoder(stderrTail: string): string | null {
  return /Error while opening decoder/.test(stderrTail) ? (DISALLOWED_DECODER.exec(stderrTail)?.[1] ?? null) : null;
}
