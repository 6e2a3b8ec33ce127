// What this machine's ffmpeg can do, found out by trying: a listed encoder is only a promise.
import { availableParallelism, tmpdir } from "node:os";
import { promisify } from "node:util";
import fluent from "fluent-ffmpeg";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Capabilities } from "#shared/protocol.ts";
import type { Tool } from "./locate.ts";
import { runCommand } from "./run-command.ts";

/** The shortest encode with each encoder that plans use. 256 pixels, because some encoders refuse smaller pictures. */
const TRIALS: Readonly<Record<string, readonly string[]>> = {
  libx264: ["color=black:s=256x256:r=30", "-frames:v", "1", "-pix_fmt", "yuv420p", "-c:v", "libx264"],
  aac: ["anullsrc=r=48000:cl=stereo", "-frames:a", "1", "-c:a", "aac"],
};

const TRIAL_STALL_MS = 30_000;

/**
 * The machine's capabilities. `encoders` holds those that a plan may use: listed by this ffmpeg, and shown to work by
 * an encode of one frame. Throws AppError `encoder_not_available` when one of them does not work, because a node
 * without would fail every job it takes.
 */
export async function probeCapabilities({ ffmpeg }: { ffmpeg: Tool }): Promise<Capabilities> {
  const listed = await listEncoders(ffmpeg);
  const encoders = Object.keys(TRIALS);
  for (const encoder of encoders) {
    const problem = listed.has(encoder) ? await tryEncoder(ffmpeg, encoder) : "it was built without";
    if (problem === null) continue;
    const advice = "Install an ffmpeg with libx264 and aac, or set FFMPEG_PATH to one";
    throw new AppError(
      "encoder_not_available",
      `The ffmpeg at ${ffmpeg.path} cannot encode with ${encoder}: ${problem}. ${advice}.`,
    );
  }
  return { ffmpegVersion: ffmpeg.version, encoders, cpus: availableParallelism() };
}

/**
 * The only use of fluent-ffmpeg. It keeps path and list for the whole process, so a process can ask one ffmpeg only, and
 * it hands on this process's whole environment (listing encoders reads nobody's file).
 */
async function listEncoders({ path }: Tool): Promise<ReadonlySet<string>> {
  const command = fluent().setFfmpegPath(path);
  try {
    return new Set(Object.keys(await promisify(command.getAvailableEncoders.bind(command))()));
  } catch (error) {
    const message = `The ffmpeg at ${path} cannot list its encoders (${messageOf(error)}). Set FFMPEG_PATH to another.`;
    throw new AppError("encoder_not_available", message, { cause: error });
  }
}

/** Null when it works, else the last line of what ffmpeg says. */
async function tryEncoder({ path }: Tool, encoder: string): Promise<string | null> {
  const argv = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", ...(TRIALS[encoder] ?? []), "-f", "null", "-"];
  const result = await runCommand({ path, argv, cwd: tmpdir(), stallMs: TRIAL_STALL_MS });
  return result.ok ? null : (result.stderrTail.trim().split("\n").at(-1) ?? result.reason);
}
