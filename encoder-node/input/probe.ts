// Asks ffprobe what a file is, without letting the file make it open anything else.
import { type ExecFileException, execFile } from "node:child_process";
import { basename } from "node:path";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { MediaProbe, type ProbedStream } from "#shared/media-probe.ts";
import { ALLOWED_DEMUXERS } from "#shared/plan/demuxers.ts";
import type { Tool } from "../ffmpeg/locate.ts";
import { toolEnvironment } from "../ffmpeg/tool-environment.ts";

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Probes a local file, given by its absolute path. Throws AppError `input_not_media` when it is no media file, has
 * neither picture nor sound, or more streams than a report can hold, and `node_failed` when ffprobe itself fails or takes longer than 60 s: a file that reads
 * so slowly may be harmless on a less busy node, so the job may try another. An abort rejects with the signal's reason.
 * `demuxer` is for files whose format is known: very small ones look like anything.
 */
export async function probeFile(
  ffprobe: Tool,
  path: string,
  signal?: AbortSignal,
  demuxer?: string,
): Promise<MediaProbe> {
  const format = demuxer === undefined ? [] : ["-f", demuxer];
  const text = await runFfprobe(ffprobe, path, [...format, "-show_format", "-show_streams"], signal);
  const probe = parseProbe(text);
  if (!probe?.streams.some(isPlayable)) {
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

const Packets = z.object({
  packets: z.array(
    z.object({
      pts_time: z.string().optional(),
      dts_time: z.string().optional(),
      duration_time: z.string().optional(),
    }),
  ),
});

/** Packets of a file, of all its streams or one; times in ms on the file's own line. */
export type PacketRange = { readonly fromMs: number; readonly toMs?: number; readonly streamIndex?: number };

/**
 * Where the last packets of a range end, in ms; null when there are none. AVI has no times of presentation. mp4's own duration falls short when the
 * last frame comes long after its predecessors: it adds decoding times up, which trail behind with B-frames.
 */
export async function lastPacketEndMs(
  ffprobe: Tool,
  path: string,
  { fromMs, toMs, streamIndex }: PacketRange,
  signal?: AbortSignal,
): Promise<number | null> {
  const wanted = [
    ...(streamIndex === undefined ? [] : ["-select_streams", String(streamIndex)]),
    ...["-read_intervals", `${fromMs / 1000}%${toMs === undefined ? "" : toMs / 1000}`],
    ...["-show_entries", "packet=pts_time,dts_time,duration_time"],
  ];
  const { packets } = Packets.parse(JSON.parse(await runFfprobe(ffprobe, path, wanted, signal)));
  const ends = packets.map(
    ({ pts_time, dts_time, duration_time }) => Number(pts_time ?? dts_time) + Number(duration_time ?? 0),
  );
  const last = ends.filter(Number.isFinite).reduce((latest, end) => Math.max(latest, end), -1);
  return last < 0 ? null : last * 1000;
}

/**
 * What ffprobe answers, as JSON, when it is asked for `wanted` of a local file in one of the formats `demuxers`. Throws as
 * `probeFile` does.
 */
export function runFfprobe(
  ffprobe: Tool,
  path: string,
  wanted: readonly string[],
  signal?: AbortSignal,
  demuxers = ALLOWED_DEMUXERS,
): Promise<string> {
  signal?.throwIfAborted();
  const argv = [
    ...["-v", "error", "-protocol_whitelist", "file", "-format_whitelist", demuxers],
    ...[...wanted, "-of", "json", `file:${path}`],
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
