// Lists the encoders, decoders, filters and muxers of an ffmpeg build. trial.ts checks which of the encoders work.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fluent, { type FfmpegCommand } from "fluent-ffmpeg";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";
import type { Tool } from "./locate.ts";

/** Patterns for a line up to the name. Depending on the release, filters have 2 or 3 flags, and muxers have 1 to 3. */
const LINES = {
  filters: /^ [T.][S.][C.]? (\S+) +\S+->\S+/gm,
  muxers: /^ [D ]E[d ]? +(\S+)/gm,
  decoders: /^ [VAS][F.][S.][X.][B.][D.] (\S+)/gm,
} as const;

const LIST_LIMIT_MS = 20_000;

/** The private method of fluent-ffmpeg that starts every process, with the options of Node's `spawn`. */
type Spawning = { _spawnFfmpeg(argv: readonly string[], options: object, ...callbacks: readonly unknown[]): void };

/**
 * Names of the encoders that a build lists. Throws AppError `encoder_not_available`.
 *
 * This is the only use of fluent-ffmpeg (decision 2). It caches path and list for the whole process, so that a
 * process can query only a single ffmpeg. By default it passes this process's whole environment to ffmpeg.
 */
export async function listEncoders(ffmpeg: Tool): Promise<ReadonlySet<string>> {
  const command = fluent().setFfmpegPath(ffmpeg.path) as FfmpegCommand & Spawning;
  const spawn = command._spawnFfmpeg.bind(command);
  command._spawnFfmpeg = (argv, options, ...callbacks) =>
    spawn(argv, { ...options, env: toolEnvironment() }, ...callbacks);
  try {
    return new Set(Object.keys(await promisify(command.getAvailableEncoders.bind(command))()));
  } catch (error) {
    throw cannotList(ffmpeg, "encoders", error);
  }
}

/** Names of the filters, muxers or decoders that a build lists. Throws AppError `encoder_not_available`. */
export async function listFeatures(ffmpeg: Tool, kind: keyof typeof LINES): Promise<ReadonlySet<string>> {
  const limits = { timeout: LIST_LIMIT_MS, maxBuffer: 4 * 1024 * 1024, env: toolEnvironment() };
  try {
    const { stdout } = await promisify(execFile)(ffmpeg.path, ["-hide_banner", `-${kind}`], limits);
    return new Set([...stdout.matchAll(LINES[kind])].flatMap(([, name]) => name ?? []));
  } catch (error) {
    throw cannotList(ffmpeg, kind, error);
  }
}

function cannotList({ path }: Tool, what: string, error: unknown): AppError {
  const message = `The ffmpeg at ${path} cannot list its ${what} (${messageOf(error)}). Set FFMPEG_PATH to another ffmpeg.`;
  return new AppError("encoder_not_available", message, { cause: error });
}
