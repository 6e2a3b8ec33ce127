// Runs of ffmpeg that make segments of streams while their chunks are joined.
import { chunkFile, pipeFile } from "#shared/plan/chunks/chunk-muxers.ts";
import type { PlannedCommand } from "#shared/plan/outputs/output-plan.ts";
import type { RunDeps, RunFailure } from "../../prepare/run-planned.ts";
import type { RunFiles } from "../../run-files/run-files.ts";
import { type GrowingInput, runOnGrowing } from "./growing-run.ts";

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
