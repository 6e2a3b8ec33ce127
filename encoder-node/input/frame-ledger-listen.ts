// Listens to an ffprobe that goes through a film, however long that takes and however much it says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DECODERS } from "#shared/plan/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/plan/demuxers.ts";
import { MAX_DECODED_PIXELS } from "#shared/plan/picture-limits.ts";
import { CRASHES } from "../ffmpeg/explain-failure.ts";
import { isolationPrefix, type Network, NOT_STARTED, subordinate } from "../ffmpeg/isolation.ts";
import { probeLimits } from "../ffmpeg/limits.ts";
import type { Tool } from "../ffmpeg/locate.ts";
import { toolEnvironment } from "../ffmpeg/tool-environment.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "./range-proxy.ts";

/** A local file by its absolute path, or what the range proxy serves. */
export type LedgerSource = { readonly path: string } | Pick<RangeInput, "url" | "failed">;

/** ffprobe's arguments that name the source. */
export const inputArguments = (source: LedgerSource): string[] => [
  ...["-max_pixels", String(MAX_DECODED_PIXELS)],
  ...("url" in source ? [...RANGE_INPUT_OPTIONS, source.url] : [...LOCAL_INPUT_OPTIONS, `file:${source.path}`]),
];

const LOCAL_INPUT_OPTIONS: readonly string[] = [
  ...["-protocol_whitelist", "file", "-format_whitelist", ALLOWED_DEMUXERS, "-codec_whitelist", ALLOWED_DECODERS],
];

/** ffprobe writes as it reads, some seconds of film at a time. */
const STALL_MS = 60_000;
/** 100 GiB at 20 MB/s are read in 90 minutes. */
const LEDGER_MS = 7_200_000;

export type Listening = { readonly ffprobe: Tool; readonly argv: readonly string[]; readonly network: Network };

/**
 * Runs ffprobe and hands on what it says, until `onText` answers false. False then, and when ffprobe found fault with the
 * file or came to harm by it. Throws AppError `node_failed` when ffprobe does not run, stalls for 60 s or takes two hours;
 * rejects with the reason of the signal.
 */
export async function listen(
  { ffprobe, argv, network }: Listening,
  signal: AbortSignal,
  onText: (text: string) => boolean,
): Promise<boolean> {
  const prefix = await isolationPrefix(probeLimits(LEDGER_MS), network);
  signal.throwIfAborted();
  const [program = ffprobe.path, ...rest] = [...prefix, ffprobe.path, "-v", "error", ...argv];
  const child = spawn(program, rest, { env: toolEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  if (child.pid !== undefined) subordinate(child.pid);
  const kill = (): void => void child.kill("SIGKILL");
  let late: string | null = null;
  let enough = false;
  const endAfter = (ms: number, how: string): NodeJS.Timeout =>
    setTimeout(() => {
      late = `${how} ${ms / 1000} s`;
      kill();
    }, ms);
  const stall = endAfter(STALL_MS, "did not go on for");
  const wall = endAfter(LEDGER_MS, "was not done after");
  signal.addEventListener("abort", kill);
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stall.refresh();
    if (enough || onText(text)) return;
    enough = true;
    kill();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints ||= text;
  });
  try {
    const [exitCode, killedBy] = (await once(child, "close")) as [number | null, string | null];
    signal.throwIfAborted();
    if (enough || (killedBy !== null && (killedBy === "SIGXCPU" || CRASHES.has(killedBy)))) return false;
    if (late !== null || exitCode === null || NOT_STARTED.test(complaints)) {
      const how = late ?? (killedBy === null ? "could not begin" : `was ended (${killedBy})`);
      throw new AppError("node_failed", `Reading the input's frames ${how} on this node.`);
    }
    return exitCode === 0 && complaints === "";
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw new AppError("node_failed", `The node could not run ffprobe (${messageOf(error)}).`, { cause: error });
  } finally {
    clearTimeout(stall);
    clearTimeout(wall);
    signal.removeEventListener("abort", kill);
  }
}
