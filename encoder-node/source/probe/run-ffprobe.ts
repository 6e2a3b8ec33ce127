// Runs ffprobe on a local file, so that the file cannot make it open anything else.
import { AppError } from "#shared/errors.ts";
import { ALLOWED_DECODERS, DISALLOWED_DECODER, disallowedDecoderMessage } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { MAX_DECODED_PIXELS } from "#shared/plan/command/opening-arguments.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import { CRASH_SIGNALS, runTool, type ToolEnd } from "../../ffmpeg/run-tool.ts";
import { SANDBOX_FAILURE } from "../../ffmpeg/sandbox/program.ts";
import { readStart } from "../../folders/open-source.ts";

const TIMEOUT_MS = 60_000;
/** Read as JSON, a text takes up to fifty times its memory. */
const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;
const STDERR_BYTES = 1024 * 1024;

/** Values of `-format_whitelist` and `-codec_whitelist`. */
export type AllowedFormats = { readonly demuxers: string; readonly decoders: string };
const MEDIA: AllowedFormats = { demuxers: ALLOWED_DEMUXERS, decoders: ALLOWED_DECODERS };

export type FfprobeRun = {
  readonly ffprobe: Tool;
  /** The absolute path of a local file. */
  readonly path: string;
  /** Options that select the output of ffprobe, and its streams and packets. */
  readonly options: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** By default the formats of all media files. */
  readonly allowed?: AllowedFormats;
};

/** `stdout` is JSON. */
export type FfprobeOutput = { readonly stdout: string; readonly stderr: string };

/**
 * Runs ffprobe. Throws AppError `input_codec_not_supported` when a stream has a codec whose decoder is not allowed.
 * Throws `input_not_media` when ffprobe cannot read the file, crashes, or computes for 30 s. Throws `node_failed` when
 * ffprobe does not start or takes longer than 60 s: the file may be harmless on a less busy node, so the job may try
 * another. An abort rejects with the signal's reason.
 */
export async function runFfprobe(run: FfprobeRun): Promise<FfprobeOutput> {
  try {
    return await startFfprobe(run);
  } catch (error) {
    // ffprobe's builds of 2023 take an MP3 file that starts with two ID3 tags for raw VVC.
    const isDisallowed = error instanceof AppError && /Format not on whitelist/.test(String(error.cause));
    if (!isDisallowed || (await readStart(run.path, 3)).toString("latin1") !== "ID3") throw error;
    return startFfprobe({ ...run, options: ["-f", "mp3", ...run.options] });
  }
}

async function startFfprobe({ ffprobe, path, options, signal, allowed = MEDIA }: FfprobeRun): Promise<FfprobeOutput> {
  const argv = [
    ...["-v", "error", "-protocol_whitelist", "file", "-format_whitelist", allowed.demuxers],
    ...["-codec_whitelist", allowed.decoders],
    ...["-max_pixels", String(MAX_DECODED_PIXELS)],
    ...[...options, "-of", "json", `file:${path}`],
  ];
  const run = { tool: ffprobe.path, argv, folder: null, reads: [path], limits: probeLimits(TIMEOUT_MS) };
  let stdout = "";
  const end = await runTool({
    ...run,
    signal,
    stderrBytes: STDERR_BYTES,
    onText(text, { stop }) {
      stdout += text;
      if (stdout.length > MAX_OUTPUT_CHARS) stop("output");
    },
  }).catch((error: unknown) => {
    throw new AppError("node_failed", "The node cannot run ffprobe: the program does not exist.", { cause: error });
  });
  signal?.throwIfAborted();
  if (end.exitCode === 0 && end.stopped === null) return { stdout, stderr: end.stderr };
  throw probeFailure(end);
}

/** ffprobe exits with a code when it cannot read the file. Other ends may be due to the file or to this machine. */
function probeFailure({ exitCode, signal, stopped, stderr }: ToolEnd): AppError {
  const cause = { cause: stderr };
  if (exitCode !== null && stopped === null && !SANDBOX_FAILURE.test(stderr)) {
    const tooLarge = frameTooLarge(stderr);
    if (tooLarge) return tooLarge;
    const [, decoder] = DISALLOWED_DECODER.exec(stderr) ?? [];
    if (decoder !== undefined) return new AppError("input_codec_not_supported", disallowedDecoderMessage(decoder));
    const message = "The input is damaged or not a readable media file; check that the source is a media file.";
    return new AppError("input_not_media", message, cause);
  }
  const problem = problemOfFile(stopped, signal);
  if (problem !== null) return new AppError("input_not_media", `${problem}; check that it is intact.`, cause);
  const message =
    stopped === "time"
      ? `Reading the input's headers took more than ${TIMEOUT_MS / 1000} s on this node.`
      : `The node cannot run ffprobe (${signal ?? exitCode ?? "unknown error"}).`;
  return new AppError("node_failed", message, cause);
}

const TOO_LARGE = "The input's metadata is too large to be read";

/** True for the error of a file with more text than is read. */
export const isTooLarge = (error: unknown): boolean => error instanceof AppError && error.message.startsWith(TOO_LARGE);

/** The problem of a file that needs more resources than any media file; null when ffprobe ended otherwise. */
function problemOfFile(stopped: ToolEnd["stopped"], signal: ToolEnd["signal"]): string | null {
  if (stopped === "output") return TOO_LARGE;
  if (stopped !== null) return null;
  if (signal === "SIGXCPU")
    return "The input's metadata takes far more time to read than the metadata of any media file";
  if (signal && CRASH_SIGNALS.has(signal)) return `The input makes ffprobe crash (${signal})`;
  return null;
}

/** libavutil's message (imgutils.c) for frames above `-max_pixels` or above its own limit. */
const FRAME_TOO_LARGE = /Picture size (\d+x\d+) (?:exceeds|is invalid)/;

/** The failure that ffprobe reports for a frame that is too large to decode; null for other output. */
export function frameTooLarge(stderr: string): AppError | null {
  const [, size] = FRAME_TOO_LARGE.exec(stderr) ?? [];
  if (size === undefined) return null;
  const limit = `at most ${MAX_DECODED_PIXELS / 1e6} million can be decoded`;
  return new AppError("input_not_media", `The input's frames have ${size} pixels; ${limit}.`);
}
