// Asks ffprobe what a file is, without letting the file make it open anything else.
import { type ExecFileException, execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "#shared/errors.ts";
import { ALLOWED_DECODERS, REFUSED_DECODER, refusedDecoderMessage } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import { MAX_DECODED_PIXELS } from "#shared/plan/source/frame-size.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { CRASH_SIGNALS } from "../../ffmpeg/command-result.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import type { ProcessEnd } from "../../ffmpeg/process-group.ts";
import { type ConfinedRun, confine } from "../../ffmpeg/sandbox/confine.ts";
import { SANDBOX_FAILURE } from "../../ffmpeg/sandbox/sandbox.ts";

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Probes a local file, given by its absolute path. Throws AppError `input_codec_not_supported` when a stream has a
 * codec whose decoder is not allowed; `input_not_media` when it is no media file, has neither picture nor sound, or a picture too large to decode, or more streams than a report can hold, or makes ffprobe crash or
 * compute for 30 s; and `node_failed` when ffprobe itself fails or takes longer than 60 s: a file that reads so slowly may
 * be harmless on a less busy node, so the job may try another. An abort rejects with the signal's reason.
 * `demuxer` is for files whose format is known: very small ones look like anything.
 */
export async function probeFile(
  ffprobe: Tool,
  path: string,
  signal?: AbortSignal,
  demuxer?: string,
): Promise<MediaProbe> {
  const format = demuxer === undefined ? [] : ["-f", demuxer];
  const wanted = [...format, "-show_format", "-show_streams"];
  const { text, complaints } = await askFfprobe(ffprobe, path, wanted, signal, MEDIA);
  const probe = parseProbe(text);
  if (!probe?.streams.some(isPlayable)) {
    const [, size] = TOO_LARGE.exec(complaints) ?? [];
    if (size !== undefined) throw tooLarge(size);
    throw new AppError(
      "input_not_media",
      "The input holds neither video nor audio; check that the URL names a media file.",
    );
  }
  if (probe.streams.length > MAX_STREAMS) {
    throw new AppError(
      "input_not_media",
      `The input has ${probe.streams.length} streams; at most ${MAX_STREAMS} can be.`,
    );
  }
  // The folder is this machine's own affair, and the probe is shown to clients.
  return { streams: probe.streams.map(shortened), format: { ...shortened(probe.format), filename: basename(path) } };
}

/** libavutil's words (imgutils.c), for pictures above `-max_pixels` and for those that it can never hold. */
const TOO_LARGE = /Picture size (\d+x\d+) (?:exceeds|is invalid)/;

const tooLarge = (size: string): AppError =>
  new AppError(
    "input_not_media",
    `The input's picture is ${size} pixels; at most ${MAX_DECODED_PIXELS / 1e6} million can be decoded.`,
  );

/** A probe travels in reports, which have a limit, and files may carry megabytes of text in their tags. */
const MAX_STREAMS = 64;
const MAX_TAGS = 64;
const MAX_TAG_CHARS = 1000;

function shortened<Tagged extends { tags?: Record<string, string> | undefined }>(part: Tagged): Tagged {
  if (!part.tags) return part;
  const tags = Object.entries(part.tags).slice(0, MAX_TAGS);
  const short = tags.map(([name, value]) => [name.slice(0, MAX_TAG_CHARS), value.slice(0, MAX_TAG_CHARS)]);
  return { ...part, tags: Object.fromEntries(short) };
}

function isPlayable(stream: ProbedStream): boolean {
  if (stream.codec_type === "video") return !!stream.width && !!stream.height;
  return stream.codec_type === "audio" && !!stream.channels && Number(stream.sample_rate) > 0;
}

/** Null when the answer lacks what every media file has. */
function parseProbe(text: string): MediaProbe | null {
  try {
    return MediaProbe.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * What ffprobe answers, as JSON, when it is asked for `wanted` of a local file in one of the formats and codecs that are
 * `allowed`. Throws as `probeFile` does.
 */
export async function runFfprobe(
  ffprobe: Tool,
  path: string,
  wanted: readonly string[],
  signal?: AbortSignal,
  allowed: AllowedParts = MEDIA,
): Promise<string> {
  return (await askFfprobe(ffprobe, path, wanted, signal, allowed)).text;
}

/** Values of `-format_whitelist` and `-codec_whitelist`. */
export type AllowedParts = { readonly demuxers: string; readonly decoders: string };
const MEDIA: AllowedParts = { demuxers: ALLOWED_DEMUXERS, decoders: ALLOWED_DECODERS };

type Answer = { readonly text: string; readonly complaints: string };

/** ffprobe's answer. Its builds of 2023 take MP3 that begins with two ID3 tags for raw VVC: then they are told. */
async function askFfprobe(
  ffprobe: Tool,
  path: string,
  wanted: readonly string[],
  signal: AbortSignal | undefined,
  allowed: AllowedParts,
): Promise<Answer> {
  try {
    return await startFfprobe(ffprobe, path, wanted, signal, allowed);
  } catch (error) {
    const isRefused = error instanceof AppError && /Format not on whitelist/.test(String(error.cause));
    if (!isRefused || !(await beginsWithId3(path))) throw error;
    return startFfprobe(ffprobe, path, ["-f", "mp3", ...wanted], signal, allowed);
  }
}

async function beginsWithId3(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
    return buffer.toString("latin1") === "ID3";
  } finally {
    await file.close();
  }
}

async function startFfprobe(
  ffprobe: Tool,
  path: string,
  wanted: readonly string[],
  signal: AbortSignal | undefined,
  { demuxers, decoders }: AllowedParts,
): Promise<Answer> {
  const argv = [
    ...["-v", "error", "-protocol_whitelist", "file", "-format_whitelist", demuxers],
    ...["-codec_whitelist", decoders],
    ...["-max_pixels", String(MAX_DECODED_PIXELS)],
    ...[...wanted, "-of", "json", `file:${path}`],
  ];
  const limits = { timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES, signal } as const;
  const confined = await confinedProbe(ffprobe, argv, path);
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = { ...limits, env: confined.env };
    const { pid } = execFile(confined.program, confined.argv, options, (error, stdout, stderr) => {
      if (!error) resolve({ text: stdout, complaints: stderr });
      else reject(signal?.aborted ? signal.reason : probeFailure(error, stderr, confined));
    });
    confined.started(pid);
  });
}

async function confinedProbe(ffprobe: Tool, argv: readonly string[], path: string): Promise<ConfinedRun> {
  const limits = probeLimits(TIMEOUT_MS);
  try {
    return await confine({ tool: ffprobe.path, argv, folder: null, reads: [path], network: "none", limits });
  } catch (error) {
    throw new AppError("node_failed", "The node could not run ffprobe: it is not there.", { cause: error });
  }
}

/** The tool's end: execFile puts an exit code and codes of its own into one member. */
function endOf({ code, signal }: ExecFileException, confined: ConfinedRun): ProcessEnd {
  return confined.endOf({ exitCode: typeof code === "number" ? code : null, signal: signal ?? null });
}

/** ffprobe answers an exit code when it dislikes the file; what is not due to the file is trouble of this machine. */
function probeFailure(error: ExecFileException, stderr: string, confined: ConfinedRun): AppError {
  const { exitCode, signal } = endOf(error, confined);
  if (exitCode !== null && !SANDBOX_FAILURE.test(stderr)) {
    const [, size] = TOO_LARGE.exec(stderr) ?? [];
    if (size !== undefined) return tooLarge(size);
    const [, decoder] = REFUSED_DECODER.exec(stderr) ?? [];
    if (decoder !== undefined) return new AppError("input_codec_not_supported", refusedDecoderMessage(decoder));
    const message = "The input is damaged or no media file that can be read; check that the URL names a media file.";
    return new AppError("input_not_media", message, { cause: error });
  }
  const fault = faultOfFile(error, signal);
  if (fault !== null) return new AppError("input_not_media", `${fault}; check that it is intact.`, { cause: error });
  const message = error.killed
    ? `Reading the input's headers took more than ${TIMEOUT_MS / 1000} s on this node.`
    : `The node could not run ffprobe (${signal ?? error.code ?? "unknown error"}).`;
  return new AppError("node_failed", message, { cause: error });
}

/** How ffprobe ends when the file makes it take more than any media file does; null when it ended otherwise. */
function faultOfFile({ code }: ExecFileException, signal: ProcessEnd["signal"]): string | null {
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "The input describes itself at a length that cannot be read";
  if (signal === "SIGXCPU") return "The input takes far more work to describe than any media file";
  if (signal && CRASH_SIGNALS.has(signal)) return `The input makes ffprobe crash (${signal})`;
  return null;
}
