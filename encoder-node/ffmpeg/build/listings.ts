// What a build of ffmpeg says it has: only a promise, which trial.ts puts to the test.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fluent from "fluent-ffmpeg";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";
import type { Tool } from "./locate.ts";

/** A line's start up to the name: filters have two or three flags, muxers one to three, as the release has it. */
const LINES = {
  filters: /^ [T.][S.][C.]? (\S+) +\S+->\S+/gm,
  muxers: /^ [D ]E[d ]? +(\S+)/gm,
} as const;

const LIST_LIMIT_MS = 20_000;

/**
 * Names of the encoders that a build lists. Throws AppError `encoder_not_available`.
 *
 * The only use of fluent-ffmpeg. It keeps path and list for the whole process, so a process can ask one ffmpeg only, and
 * it hands on this process's whole environment (listing encoders reads nobody's file).
 */
export async function listEncoders(ffmpeg: Tool): Promise<ReadonlySet<string>> {
  const command = fluent().setFfmpegPath(ffmpeg.path);
  try {
    return new Set(Object.keys(await promisify(command.getAvailableEncoders.bind(command))()));
  } catch (error) {
    throw cannotList(ffmpeg, "encoders", error);
  }
}

/** Names of the filters or muxers that a build lists. Throws AppError `encoder_not_available`. */
export async function listParts(ffmpeg: Tool, kind: keyof typeof LINES): Promise<ReadonlySet<string>> {
  const limits = { timeout: LIST_LIMIT_MS, maxBuffer: 4 * 1024 * 1024, env: toolEnvironment() };
  try {
    const { stdout } = await promisify(execFile)(ffmpeg.path, ["-hide_banner", `-${kind}`], limits);
    return new Set([...stdout.matchAll(LINES[kind])].flatMap(([, name]) => name ?? []));
  } catch (error) {
    throw cannotList(ffmpeg, kind, error);
  }
}

function cannotList({ path }: Tool, what: string, error: unknown): AppError {
  const message = `The ffmpeg at ${path} cannot list its ${what} (${messageOf(error)}). Set FFMPEG_PATH to another.`;
  return new AppError("encoder_not_available", message, { cause: error });
}
