// Asks ffprobe what a file is, without letting the file make it open anything else.
import { type ExecFileException, execFile } from "node:child_process";
import { basename } from "node:path";
import { AppError } from "#shared/errors.ts";
import { MediaProbe, type ProbedStream } from "#shared/media-probe.ts";
import { ALLOWED_DEMUXERS } from "#shared/plan/demuxers.ts";
import type { Tool } from "../ffmpeg/locate.ts";
import { toolEnvironment } from "../ffmpeg/tool-environment.ts";

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Probes a local file, given by its absolute path. Throws AppError `input_not_media` when it is no media file or has
 * neither picture nor sound, and `node_failed` when ffprobe itself fails or takes longer than 60 s: a file that reads
 * so slowly may be harmless on a less busy node, so the job may try another. An abort rejects with the signal's reason.
 */
export async function probeFile(ffprobe: Tool, path: string, signal?: AbortSignal): Promise<MediaProbe> {
  const text = await runFfprobe(ffprobe, path, signal);
  const probe = parseProbe(text);
  if (!probe?.streams.some(isPlayable)) {
    throw new AppError(
      "input_not_media",
      "The input holds neither video nor audio; check that the URL names a media file.",
    );
  }
  // The folder is this machine's own affair, and the probe is shown to clients.
  return { ...probe, format: { ...probe.format, filename: basename(path) } };
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

function runFfprobe(ffprobe: Tool, path: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const argv = [
    ...["-v", "error", "-protocol_whitelist", "file", "-format_whitelist", ALLOWED_DEMUXERS],
    ...["-show_format", "-show_streams", "-of", "json", `file:${path}`],
  ];
  const limits = { timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES, signal } as const;
  const options = { ...limits, env: toolEnvironment() };
  return new Promise((resolve, reject) => {
    execFile(ffprobe.path, argv, options, (error, stdout) => {
      if (!error) resolve(stdout);
      else reject(signal?.aborted ? signal.reason : probeFailure(error));
    });
  });
}

/** ffprobe answers an exit code when it dislikes the file; all else is trouble of this machine. */
function probeFailure(error: ExecFileException): AppError {
  if (typeof error.code === "number") {
    const message = "The input is damaged or no media file that can be read; check that the URL names a media file.";
    return new AppError("input_not_media", message, { cause: error });
  }
  const message = error.killed
    ? `Reading the input's headers took more than ${TIMEOUT_MS / 1000} s on this node.`
    : `The node could not run ffprobe (${error.code ?? error.signal ?? "unknown error"}).`;
  return new AppError("node_failed", message, { cause: error });
}
