// Runs ffmpeg on joined tracks while they grow. It reads them through named pipes, as files that are not seekable. Its
// output is the same as from the complete files.
import { execFile } from "node:child_process";
import { constants, open } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { AppError } from "#shared/errors.ts";
import { errorCode, messageOf } from "#shared/log.ts";
import { chunkFile, pipeFile } from "#shared/plan/chunks/chunk-muxers.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import type { PlannedCommand } from "#shared/plan/outputs/output-plan.ts";
import { openFile } from "../../run-files/open-file.ts";
import type { RunFiles } from "../../run-files/run-files.ts";
import { type RunDeps, type RunFailure, runAll } from "../../workspace/run-planned.ts";

/** A growing file, and the pipe through which a run reads it; names in the folder of this node. */
export type GrowingInput = { readonly file: string; readonly pipe: string };

export type GrowingRun = {
  readonly runs: readonly PlannedRun[];
  readonly inputs: readonly GrowingInput[];
  readonly files: RunFiles;
  /** True if the files no longer grow. */
  readonly isComplete: () => boolean;
};

/** Interval at which a file is read again, and at which a pipe is tried until ffmpeg reads it. */
const READ_EVERY_MS = 250;
const OPEN_EVERY_MS = 50;
const BUFFER_BYTES = 256 * 1024;
const PIPE_FLAGS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Runs the commands, and returns the failure of a command, or null. Throws AppError `node_failed` for errors of the
 * disk, and the reason of the signal.
 */
export async function runOnGrowing(run: GrowingRun, deps: RunDeps): Promise<RunFailure | null> {
  const { runs, inputs, files, isComplete } = run;
  const paths = inputs.map(({ file, pipe }) => ({ file: files.pathOf(file), pipe: files.pathOf(pipe) }));
  const end = new AbortController();
  const signal = AbortSignal.any([deps.signal, end.signal]);
  let broken: { readonly error: unknown } | null = null;
  const feed = async (input: GrowingInput): Promise<void> => {
    await feedPipe(input, isComplete, signal).catch((error: unknown) => {
      if (signal.aborted || errorCode(error) === "EPIPE") return;
      broken ??= { error };
      end.abort();
    });
  };
  await makePipes(paths.map(({ pipe }) => pipe));
  const feeding = Promise.all(paths.map(feed));
  const failure = await runAll(runs, files, () => undefined, { ...deps, signal, mayWait: () => !isComplete() });
  end.abort();
  await feeding;
  deps.signal.throwIfAborted();
  if (broken) throw pipeFailure((broken as { readonly error: unknown }).error);
  return failure;
}

const pipeFailure = (error: unknown): AppError =>
  new AppError("node_failed", `A track cannot be read while it grows: ${messageOf(error)}`, { cause: error });

const run = promisify(execFile);

/** ffmpeg may run as another user. Other users may read the pipes; only this user may write. */
async function makePipes(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await run("mkfifo", ["-m", "644", "--", ...paths]).catch((error: unknown) => {
    throw pipeFailure(error);
  });
}

/** Writes a growing file into its pipe, until the file is complete or ffmpeg has ended (EPIPE). */
async function feedPipe({ file, pipe }: GrowingInput, isComplete: () => boolean, signal: AbortSignal): Promise<void> {
  const source = await openFile(file);
  try {
    const writer = await openPipe(pipe, signal);
    try {
      for (let position = 0; ; ) {
        const wasComplete = isComplete();
        const { bytesRead, buffer } = await source.read(Buffer.allocUnsafe(BUFFER_BYTES), 0, BUFFER_BYTES, position);
        position += bytesRead;
        if (bytesRead > 0) await writer.write(buffer.subarray(0, bytesRead));
        else if (wasComplete) break;
        else await sleep(READ_EVERY_MS, undefined, { signal });
      }
      await writer.end();
    } finally {
      writer.destroy();
    }
  } finally {
    await source.close();
  }
}

type PipeWriter = { write(bytes: Buffer): Promise<void>; end(): Promise<void>; destroy(): void };

/**
 * Opens a pipe once its reader has opened it. Writes to the pipe wait in the event loop. File writes would each hold a
 * thread of this process, which has few, while ffmpeg reads another track.
 */
async function openPipe(path: string, signal: AbortSignal): Promise<PipeWriter> {
  const socket = new Socket({ fd: await openWhenRead(path, signal), readable: false, writable: true, signal });
  const failed = new Promise<never>((_, reject) => socket.once("error", reject));
  failed.catch(() => undefined);
  const sent = (send: (done: (error?: Error | null) => void) => unknown): Promise<void> =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => void send((error) => (error ? reject(error) : resolve()))),
    ]);
  return {
    write: (bytes) => sent((done) => socket.write(bytes, done)),
    end: () => sent((done) => socket.end(done)),
    destroy: () => socket.destroy(),
  };
}

async function openWhenRead(path: string, signal: AbortSignal): Promise<number> {
  const openNow = promisify(open);
  for (;;) {
    signal.throwIfAborted();
    try {
      return await openNow(path, PIPE_FLAGS);
    } catch (error) {
      // The pipe has no reader yet (fifo(7)).
      if (errorCode(error) !== "ENXIO") throw error;
    }
    await sleep(OPEN_EVERY_MS, undefined, { signal });
  }
}

// Runs of ffmpeg that make segments of streams while their chunks are joined.

export interface EarlyRuns {
  /** Starts the runs: the tracks exist. */
  start(): void;
  /** Ends the input of the runs: the tracks are complete. */
  complete(): void;
  /** Returns the result of a command's run; undefined for a command that runs when its tracks are complete. */
  of(command: PlannedCommand): Promise<RunFailure | null> | undefined;
  /** Stops the runs that have not ended, and resolves when they have. */
  stop(): Promise<void>;
}

/** `commands` were planned for growing tracks. Commands that make files need complete tracks. */
export function earlyRuns(commands: readonly PlannedCommand[], files: RunFiles, deps: RunDeps): EarlyRuns {
  const running = new Map<PlannedCommand, Promise<RunFailure | null>>();
  const end = new AbortController();
  let isComplete = false;
  return {
    start() {
      for (const command of commands) {
        const inputs = pipedInputs(command);
        if (inputs.length === 0) continue;
        const run = { runs: command.runs, inputs, files, isComplete: () => isComplete };
        const result = runOnGrowing(run, { ...deps, signal: AbortSignal.any([deps.signal, end.signal]) });
        result.catch(() => undefined);
        running.set(command, result);
      }
    },
    complete() {
      isComplete = true;
    },
    of: (command) => running.get(command),
    async stop() {
      end.abort();
      await Promise.allSettled(running.values());
    },
  };
}

/** Returns the videos that have segments in MPEG-TS. Fragmented MP4 needs no run. */
const pipedInputs = ({ runs, outputs }: PlannedCommand): GrowingInput[] =>
  runs.length === 0
    ? []
    : outputs.flatMap(({ output, stream }) =>
        (stream?.tracks ?? []).flatMap(({ name, kind, ts }) =>
          kind === "video" && ts !== null ? [{ file: chunkFile(output, name), pipe: pipeFile(output, name) }] : [],
        ),
      );
