// Runs an ffprobe that lists packets of a source, and streams its output.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { MAX_DECODED_PIXELS } from "#shared/plan/command/opening-arguments.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import { CRASH_SIGNALS, runTool } from "../../ffmpeg/run-tool.ts";
import { SANDBOX_FAILURE } from "../../ffmpeg/sandbox/program.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "../ranges/range-proxy.ts";

/** A local file by its absolute path, or an input of the range proxy. */
export type ProbeInput = LocalFile | Pick<RangeInput, "url" | "network" | "failed">;
export type LocalFile = {
  readonly path: string;
  /**
   * True if the file has only the first packets (source/outline/). ffprobe then lists all packets from the header and
   * parses none.
   */
  readonly isOutline?: boolean | undefined;
};

/** ffprobe's arguments that name the source. */
export const inputArguments = (source: ProbeInput): string[] => [
  ...["-max_pixels", String(MAX_DECODED_PIXELS)],
  ...("url" in source ? [...RANGE_INPUT_OPTIONS, source.url] : localInput(source)),
];

const localInput = ({ path, isOutline = false }: LocalFile): string[] => [
  ...LOCAL_INPUT_OPTIONS,
  ...(isOutline ? ["-fflags", "+noparse"] : []),
  `file:${path}`,
];

const LOCAL_INPUT_OPTIONS: readonly string[] = [
  ...["-protocol_whitelist", "file", "-format_whitelist", ALLOWED_DEMUXERS, "-codec_whitelist", ALLOWED_DECODERS],
];

/** ffprobe writes while it reads, a few seconds of video at a time. */
const STALL_MS = 60_000;
/** Reading 100 GiB at 20 MB/s takes 90 minutes. */
const LISTING_TIMEOUT_MS = 7_200_000;

/** `argv` are the options; the source is added to them. */
export type PacketListing = { readonly ffprobe: Tool; readonly source: ProbeInput; readonly argv: readonly string[] };

/**
 * Runs ffprobe and passes its output to `onText` until `onText` returns false. Returns false in that case, and when
 * ffprobe reports errors in the file or crashes. Throws AppError `node_failed` when ffprobe does not start, stalls for
 * 60 s or takes two hours. Rejects with the signal's reason.
 */
export async function runPacketListing(
  { ffprobe, source, argv }: PacketListing,
  signal: AbortSignal,
  onText: (text: string) => boolean,
): Promise<boolean> {
  const end = await runTool({
    tool: ffprobe.path,
    argv: ["-v", "error", ...argv, ...inputArguments(source)],
    folder: null,
    limits: probeLimits(LISTING_TIMEOUT_MS),
    ...("url" in source ? { network: source.network } : { reads: [source.path] }),
    signal,
    stallMs: STALL_MS,
    onText(text, { advance, stop }) {
      advance();
      if (!onText(text)) stop("output");
    },
  }).catch((error: unknown) => {
    throw new AppError("node_failed", `The node could not run ffprobe (${messageOf(error)}).`, { cause: error });
  });
  signal.throwIfAborted();
  const { exitCode, signal: killedBy, stopped, stderr, thrown } = end;
  if (thrown !== null) throw thrown;
  if (stopped === "output" || killedBy === "SIGXCPU" || (killedBy !== null && CRASH_SIGNALS.has(killedBy)))
    return false;
  if (stopped !== null || exitCode === null || SANDBOX_FAILURE.test(stderr)) {
    const how = HOW_STOPPED[stopped ?? ""] ?? (killedBy === null ? "could not start" : `was killed (${killedBy})`);
    throw new AppError("node_failed", `Reading the input's frames ${how} on this node.`);
  }
  return exitCode === 0 && stderr === "";
}

const HOW_STOPPED: Readonly<Record<string, string>> = {
  stalled: `made no progress for ${STALL_MS / 1000} s`,
  time: `was not complete after ${LISTING_TIMEOUT_MS / 1000} s`,
};

/** Like `runPacketListing`, by whole lines. */
export function runPacketListingByLine(
  listing: PacketListing,
  signal: AbortSignal,
  onLine: (line: string) => boolean,
): Promise<boolean> {
  return runPacketListing(listing, signal, splitLines(onLine));
}

/** A packet of any stream. Times in seconds; null if the packet has none. */
export type ListedPacket = {
  readonly stream: number;
  readonly pts: number | null;
  readonly dts: number | null;
  /** 0 if unknown. */
  readonly duration: number;
  readonly bytes: number;
  /** `K`: a keyframe; `D`: it is decoded for later frames, and not shown. */
  readonly flags: string;
};

const ENTRIES = "packet=stream_index,pts_time,dts_time,duration_time,size,flags";
const PACKET =
  /^packet\|stream_index=(\d{1,4})\|pts_time=([^|]+)\|dts_time=([^|]+)\|duration_time=([^|]+)\|size=(\d+)\|flags=([^|]*)/;

/** Like `runPacketListing`, by packets. `argv` selects the packets. */
export function listPackets(
  { argv, ...listing }: PacketListing,
  signal: AbortSignal,
  onPacket: (packet: ListedPacket) => void,
): Promise<boolean> {
  const withEntries = { ...listing, argv: [...argv, "-show_entries", ENTRIES, "-of", "compact"] };
  return runPacketListingByLine(withEntries, signal, (line) => {
    // Side data is on separate lines.
    const [, stream, pts, dts, duration, bytes, flags = ""] = PACKET.exec(line) ?? [];
    if (stream === undefined) return true;
    const [shownAt = null, decodedAt = null] = [pts, dts].map((text) =>
      Number.isFinite(Number(text)) ? Number(text) : null,
    );
    const times = { pts: shownAt, dts: decodedAt, duration: Number(duration) || 0 };
    onPacket({ stream: Number(stream), ...times, bytes: Number(bytes), flags });
    return true;
  });
}

/** Far above the length of ffprobe's lines. A longer line is not ffprobe's output, and is not collected. */
const MAX_LINE_CHARS = 65_536;

/**
 * Collects text that arrives in pieces into lines. The result returns false once `onLine` has returned false, and when
 * a line is longer than 65,536 characters.
 */
export function splitLines(onLine: (line: string) => boolean): (text: string) => boolean {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    return lines.every(onLine) && rest.length <= MAX_LINE_CHARS;
  };
}
