// The engine of speech recognition: whisper.cpp as an addon for Node.js, in a process of its own in the sandbox.
import { realpath, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { lastErrorLine } from "../ffmpeg/error-lines.ts";
import { encodeLimits, type Machine, type RunLimits } from "../ffmpeg/limits.ts";
import { thisMachine } from "../ffmpeg/run-command.ts";
import { runTool } from "../ffmpeg/run-tool.ts";
import { programBeside } from "../own-program.ts";
import { writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";

export type SpeechEngine = {
  /** The path of a model in whisper.cpp's format. */
  readonly model: string;
  readonly modelBytes: number;
  /** The path of the addon. */
  readonly addon: string;
};

const PROGRAM = programBeside(import.meta.url, "speech-process");
export const SEGMENTS_FILE = "segments.json";
/** Ten hours of fast speech have 4 MB. */
export const MAX_SEGMENTS_BYTES = 10e6;

/** On two cores, the models `base` and `small` take less than the length of the audio. */
const WALL_FACTOR = 20;
/** For the start of the engine, which reads gigabytes of a large model. */
const WALL_FLOOR_MS = 120_000;
const BYTES_PER_MS = 32;
/** More threads than this slow whisper.cpp down. */
const MAX_THREADS = 8;

type Recognition = {
  /** A file of `speech-process.ts`. */
  readonly samples: string;
  /** Whisper's code; null: the model finds the language. */
  readonly language: string | null;
  readonly signal?: AbortSignal;
};

/** Writes `SEGMENTS_FILE` into the folder. Throws AppError `speech_failed`, and the signal's reason. */
export async function runEngine(engine: SpeechEngine, work: Recognition, files: RunFiles): Promise<void> {
  const { model, addon } = engine;
  const { samples, language, signal } = work;
  const threads = Math.min(MAX_THREADS, availableParallelism());
  const end = await files.inRun(async (folder) => {
    const result = join(folder, SEGMENTS_FILE);
    const argv = ["--no-warnings", PROGRAM, addon, model, samples, language ?? "auto", String(threads), result];
    const audioMs = (await stat(samples)).size / BYTES_PER_MS;
    const limits = engineLimits(audioMs, engine.modelBytes, await thisMachine(folder));
    const reads = [PROGRAM, model, samples];
    return runTool({ tool: process.execPath, libraries: [addon], argv, folder, reads, limits, signal });
  });
  signal?.throwIfAborted();
  if (end.exitCode === 0 && end.stopped === null) return;
  const isLate = end.stopped === "time" || end.signal === "SIGXCPU";
  const reason = isLate ? `more than ${WALL_FACTOR} times the length of the audio` : problemIn(end.stderr);
  throw new AppError("speech_failed", `The speech could not be recognized: ${reason}.`);
}

/** Pure. */
export function engineLimits(audioMs: number, modelBytes: number, machine: Machine): RunLimits {
  const limits = encodeLimits({ durationMs: audioMs }, machine);
  const wallMs = Math.min(limits.wallMs, WALL_FLOOR_MS + WALL_FACTOR * audioMs);
  const memoryBytes = limits.memoryBytes === null ? null : limits.memoryBytes + NODE_BYTES + 2 * modelBytes;
  const cpuSeconds = Math.ceil((wallMs / 1000) * machine.cpus);
  return { ...limits, wallMs, cpuSeconds, memoryBytes, fileBytes: MAX_SEGMENTS_BYTES };
}

/** Address space that V8 reserves and hardly uses. */
const NODE_BYTES = 4 * 2 ** 30;

/** Node.js prints an error, its stack, and its own version. */
function problemIn(stderr: string): string {
  const errors = stderr.match(/^\w*Error: .*$/gm) ?? [];
  return lastErrorLine(errors.at(-1)?.replace(/^\w*Error: /, "") ?? stderr) ?? "the engine ended without a reason";
}

/**
 * Loads the model and recognizes a second of silence. Throws AppError `node_failed` with advice if that fails.
 * `workFolder` gets temporary files.
 */
export async function openEngine(modelFile: string, workFolder: string, log: Logger): Promise<SpeechEngine> {
  const model = await realpath(modelFile).catch((error: unknown) => {
    throw new AppError("node_failed", `The model of --speech cannot be read: ${messageOf(error)}`);
  });
  const engine = { model, modelBytes: (await stat(model)).size, addon: findAddon() };
  const files = await RunFiles.create(workFolder);
  try {
    const samples = files.pathOf("silence.pcm");
    await writeText(samples, "\0".repeat(1000 * BYTES_PER_MS), 0o644);
    await runEngine(engine, { samples, language: "en" }, files);
  } catch (error) {
    throw new AppError("node_failed", `--speech ${modelFile} does not work. ${messageOf(error)} ${ADVICE}`);
  } finally {
    await files.remove();
  }
  log.info("speech recognition checked", { model: basename(model), bytes: engine.modelBytes });
  return engine;
}

const ADVICE =
  "It must be a model of Whisper in the format of whisper.cpp, such as ggml-base.bin, that other users may read, and " +
  "the system must have libgomp (Debian: apt-get install libgomp1) (docs/speech.md).";

/** The package with whisper.cpp for this machine, an optional dependency. */
function findAddon(): string {
  const name = `@fugood/node-whisper-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    const advice = `npm install --no-save ${name}@1.1.3`;
    throw new AppError("node_failed", `--speech needs the npm package ${name}: ${advice} in Copra's folder.`);
  }
}
