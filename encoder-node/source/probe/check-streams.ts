// Checks that ffmpeg finds the same streams in a source as the probe from which its commands are planned.
import { AppError } from "#shared/errors.ts";
import { chosenAudio, chosenVideo } from "#shared/media/choose-streams.ts";
import { fraction, type MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import { openingArguments } from "#shared/plan/command/opening-arguments.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import { runTool } from "../../ffmpeg/run-tool.ts";
import type { RunNetwork } from "../../ffmpeg/sandbox/confine.ts";

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Plans name streams by ffprobe's index. That ffprobe may have another version or run on another node. ffmpeg 7 lists
 * the still image of an animated AVIF as a separate stream before the video; earlier versions do not know it. Throws
 * AppError `node_failed` when an index would select another stream, or when the number of videos differs. Another node
 * may read the file as its inspection did. Takes about 50 ms. An abort rejects with the signal's reason.
 */
export async function checkStreams(
  ffmpeg: Tool,
  source: CheckedSource,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<void> {
  const listed = await listStreams(ffmpeg, source, signal);
  if (!isListedAs(probe, listed)) throw otherStreams(ffmpeg, probe, listed);
}

/**
 * Returns the probe with the stream indexes of this ffmpeg. They depend on the version for an MPEG-TS whose streams
 * start late. A stream is matched by its id (PID, number of the track), and by its frame rate where several streams
 * have the same id. Throws like `checkStreams` when a chosen stream is not found. With `needsAllAudio`, also when other
 * audio is not found, because outputs count the audio tracks.
 */
export async function withOwnIndexes(
  ffmpeg: Tool,
  source: CheckedSource,
  probe: MediaProbe,
  signal: AbortSignal,
  needsAllAudio = false,
): Promise<MediaProbe> {
  const listed = await listStreams(ffmpeg, source, signal);
  if (isListedAs(probe, listed)) return probe;
  const streams = probe.streams.flatMap((stream): ProbedStream[] => {
    const same = listed.filter((each) => isSame(stream, each));
    const [only] = same.length > 1 ? same.filter(({ fps }) => fps === frameRate(stream)) : same;
    return only ? [{ ...stream, index: only.index }] : [];
  });
  const audio = needsAllAudio
    ? probe.streams.filter(({ codec_type }) => codec_type === "audio")
    : [chosenAudio(probe.streams)];
  const chosen = [chosenVideo(probe.streams), ...audio].filter((stream) => stream !== undefined);
  const isFound = chosen.every(({ id }) => id !== undefined && streams.some((stream) => stream.id === id));
  const isDistinct = new Set(streams.map(({ index }) => index)).size === streams.length;
  if (!isFound || !isDistinct) throw otherStreams(ffmpeg, probe, listed);
  return { ...probe, streams };
}

/** True if versions of ffmpeg may list other streams or another order: for multiplexes and animated AVIF. */
export function mayBeListedOtherwise({ streams, format }: MediaProbe): boolean {
  if (format.format_name === "mpegts" || format.format_name === "mpeg") return streams.length > 2;
  return /^avi[fs]$/.test(format.tags?.major_brand ?? "");
}

/** True if each stream has the same index in both lists. The encode reports a source that cannot be listed. */
function isListedAs({ streams, format }: MediaProbe, listed: readonly ListedStream[]): boolean {
  if (listed.length === 0) return true;
  const hasPids = format.format_name === "mpegts" || format.format_name === "mpeg";
  const videos = (kinds: readonly { readonly kind: Kind }[]) => kinds.filter(({ kind }) => kind === "video").length;
  const probed = streams.map(({ codec_type }) => ({ kind: kindOf(codec_type ?? "") }));
  const isInPlace = streams.every((stream) => {
    const same = listed.find(({ index }) => index === stream.index);
    return same !== undefined && isSame(hasPids ? stream : { ...stream, id: undefined }, same);
  });
  return isInPlace && videos(probed) === videos(listed);
}

/** True if kind and id are the same; containers without ids have none in either list. */
const isSame = ({ codec_type, id }: ProbedStream, listed: ListedStream): boolean =>
  kindOf(codec_type ?? "") === listed.kind &&
  (id === undefined || listed.id === null || Number(id) === Number(listed.id));

/** The frame rate as ffmpeg prints it: with two decimals at most. */
function frameRate({ avg_frame_rate }: ProbedStream): number | null {
  const fps = fraction(avg_frame_rate);
  return fps === null ? null : Math.round(fps * 100) / 100;
}

function otherStreams({ version }: Tool, { streams }: MediaProbe, listed: readonly ListedStream[]): AppError {
  const probed = streams.map(({ codec_type }) => kindOf(codec_type ?? ""));
  const listedKinds = listed.map(({ kind }) => kind);
  const kinds = `other streams in the input (${kindList(listedKinds)}) than its inspection did (${kindList(probed)})`;
  const advice = "a node whose ffmpeg and ffprobe are of one version can encode it";
  return new AppError("node_failed", `The node's ffmpeg (${version}) finds ${kinds}; ${advice}.`);
}

/** A local file, or with `loopbackOptions` a source that the node serves in `network`. */
export type CheckedSource = Pick<RunInputs, "source" | "loopbackOptions"> & { readonly network?: RunNetwork };

type Kind = "video" | "audio" | "other";
const kindOf = (type: string): Kind => (type === "video" || type === "audio" ? type : "other");
const kindList = (kinds: readonly Kind[]): string => kinds.join(", ") || "none";

type ListedStream = {
  readonly index: number;
  readonly kind: Kind;
  /** Null: the container has no ids. */
  readonly id: string | null;
  readonly fps: number | null;
};

/** Tags are indented further, so that no tag is taken for a stream. */
const STREAM = /^ {2}Stream #0:(\S+): (\w+):([^\n]*)/gm;
/** The index, and the id of containers that have ids: `1[0x101](deu)`. */
const NUMBERS = /^(\d+)(?:\[(0x[\da-f]+)\])?/;

/** ffmpeg lists streams at this log level; the last of several levels counts. */
const VERBOSE = ["-v", "info"];

/**
 * Returns the streams that ffmpeg lists for an input without an output. ffmpeg lists by program, and repeats the
 * streams of several programs.
 */
async function listStreams(
  ffmpeg: Tool,
  { source: path, loopbackOptions: loopback, network = "none" }: CheckedSource,
  signal: AbortSignal,
): Promise<ListedStream[]> {
  const { stderr: text } = await runTool({
    tool: ffmpeg.path,
    argv: openingArguments([{ path, options: VERBOSE, ...(loopback ? { loopback } : {}) }]),
    limits: probeLimits(TIMEOUT_MS),
    folder: null,
    reads: loopback ? [] : [path],
    network,
    signal,
    stderrBytes: MAX_ANSWER_BYTES,
  });
  signal.throwIfAborted();
  const streams = [...text.matchAll(STREAM)].map(([, numbers = "", type = "", description = ""]) => {
    const [, index, id = null] = NUMBERS.exec(numbers) ?? [];
    const fps = Number(/, ([\d.]+) fps\b/.exec(description)?.[1] ?? Number.NaN) || null;
    return { index: Number(index), kind: kindOf(type.toLowerCase()), id, fps };
  });
  return [...new Map(streams.map((stream) => [stream.index, stream])).values()].toSorted((a, b) => a.index - b.index);
}
