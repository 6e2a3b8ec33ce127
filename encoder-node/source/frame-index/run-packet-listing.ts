// Listens to an ffprobe that goes through a film, however long that takes and however much it says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { MAX_DECODED_PIXELS } from "#shared/plan/source/frame-size.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { CRASH_SIGNALS } from "../../ffmpeg/command-result.ts";
import { probeLimits } from "../../ffmpeg/limits.ts";
import { type ConfinedRun, confine } from "../../ffmpeg/sandbox/confine.ts";
import { SANDBOX_FAILURE } from "../../ffmpeg/sandbox/sandbox.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "../ranges/range-proxy.ts";

/** A local file by its absolute path, or what the range proxy serves. */
export type ProbeInput = { readonly path: string } | Pick<RangeInput, "url" | "network" | "failed">;

/** ffprobe's arguments that name the source. */
export const inputArguments = (source: ProbeInput): string[] => [
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

/** `argv` asks about the source, which is added to it. */
export type Listening = { readonly ffprobe: Tool; readonly source: ProbeInput; readonly argv: readonly string[] };

/**
 * Runs ffprobe and hands on what it says, until `onText` answers false. False then, and when ffprobe found fault with the
 * file or came to harm by it. Throws AppError `node_failed` when ffprobe does not run, stalls for 60 s or takes two hours;
 * rejects with the reason of the signal.
 */
export async function listen(
  { ffprobe, source, argv }: Listening,
  signal: AbortSignal,
  onText: (text: string) => boolean,
): Promise<boolean> {
  const confined = await confinedListening({ ffprobe, source, argv });
  signal.throwIfAborted();
  const child = spawn(confined.program, confined.argv, { env: confined.env, stdio: ["ignore", "pipe", "pipe"] });
  confined.started(child.pid);
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
    const [code, by] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    const { exitCode, signal: killedBy } = confined.endOf({ exitCode: code, signal: by });
    signal.throwIfAborted();
    if (enough || (killedBy !== null && (killedBy === "SIGXCPU" || CRASH_SIGNALS.has(killedBy)))) return false;
    if (late !== null || exitCode === null || SANDBOX_FAILURE.test(complaints)) {
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

async function confinedListening({ ffprobe, source, argv }: Listening): Promise<ConfinedRun> {
  try {
    return await confine({
      ...{ tool: ffprobe.path, argv: ["-v", "error", ...argv, ...inputArguments(source)] },
      ...{ folder: null, limits: probeLimits(LEDGER_MS) },
      ...("url" in source
        ? { reads: [], network: source.network }
        : { reads: [source.path], network: "none" as const }),
    });
  } catch (error) {
    throw new AppError("node_failed", `The node could not run ffprobe (${messageOf(error)}).`, { cause: error });
  }
}
