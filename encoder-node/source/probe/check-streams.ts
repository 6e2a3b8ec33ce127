// Checks that ffmpeg finds the same streams in a source as the probe that its commands are planned with.
import { execFile } from "node:child_process";
import { AppError } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { openingArguments, type PlannedInput } from "#shared/plan/command/opening-arguments.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import { confine, type RunNetwork } from "../../ffmpeg/sandbox/confine.ts";

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Plans name streams by ffprobe's index, and that ffprobe may be of another version or on another node. ffmpeg 7 lists
 * the still image of an animated AVIF as a stream of its own, before the video; earlier versions do not know it. Throws
 * AppError `node_failed` when an index would select a stream of another kind, or when the number of videos differs:
 * another node may read the file as its inspection did. Takes about 50 ms. An abort rejects with the signal's reason.
 */
export async function checkStreams(
  ffmpeg: Tool,
  source: CheckedSource,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<void> {
  const listed = await listStreams(ffmpeg, source, signal);
  // The encode reports a source that cannot be listed.
  if (listed.length === 0) return;
  const probed = probe.streams.map(({ codec_type }) => kindOf(codec_type ?? ""));
  const videos = (kinds: readonly Kind[]): number => kinds.filter((kind) => kind === "video").length;
  if (probed.every((kind, at) => kind === listed[at]) && videos(probed) === videos(listed)) return;
  const kinds = `other streams in the input (${kindList(listed)}) than its inspection did (${kindList(probed)})`;
  const advice = "a node whose ffmpeg and ffprobe are of one version can encode it";
  throw new AppError("node_failed", `The node's ffmpeg (${ffmpeg.version}) finds ${kinds}; ${advice}.`);
}

/** A file by its absolute path, or with `loopback` the URL of a source that the node serves in `network`. */
type CheckedSource = Pick<PlannedInput, "path" | "loopback"> & { readonly network?: RunNetwork | undefined };

type Kind = "video" | "audio" | "other";
const kindOf = (type: string): Kind => (type === "video" || type === "audio" ? type : "other");
const kindList = (kinds: readonly Kind[]): string => kinds.join(", ") || "none";

/** Tags are indented further, so that none of them is taken for a stream. */
const STREAM = /^ {2}Stream #0:\d\S*: (\w+):/gm;

/** ffmpeg lists streams at this log level; the last of several levels counts. */
const VERBOSE = ["-v", "info"];

/** The streams in the order of their index, as ffmpeg lists an input without an output. */
async function listStreams(
  ffmpeg: Tool,
  { path, loopback, network = "none" }: CheckedSource,
  signal: AbortSignal,
): Promise<Kind[]> {
  const confined = await confine({
    tool: ffmpeg.path,
    argv: openingArguments([{ path, options: VERBOSE, ...(loopback ? { loopback } : {}) }]),
    limits: probeLimits(TIMEOUT_MS),
    folder: null,
    reads: loopback ? [] : [path],
    network,
  });
  signal.throwIfAborted();
  const limits = { timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES, signal } as const;
  const text = await new Promise<string>((resolve) => {
    const options = { ...limits, env: confined.env };
    const { pid } = execFile(confined.program, confined.argv, options, (_error, _stdout, stderr) => resolve(stderr));
    confined.started(pid);
  });
  signal.throwIfAborted();
  return [...text.matchAll(STREAM)].map(([, type = ""]) => kindOf(type.toLowerCase()));
}
