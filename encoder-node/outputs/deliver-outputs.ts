// Uploads each output to the client's storage as soon as it is encoded, and reports it as soon as it is stored.
import type { Failure } from "#shared/errors.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { Limiter, untilAborted } from "../async/in-parallel.ts";
import type { TaskTrace } from "../tracing/task-trace.ts";
import { createUploadMeter, isStorageDown, type StoreDeps, storeFiles, uploadFailure } from "../upload/store-files.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { FailedOutput, MadeOutput } from "./check-output.ts";
import { withPlaylistNote } from "./check-playlists.ts";

/** The result of encoding an output. */
export type Encoded = MadeOutput | FailedOutput;

export interface Delivery {
  /** Starts to upload encoded outputs, and reports failed ones. */
  add(outputs: readonly Encoded[]): void;
  /**
   * Resolves when all outputs are stored or have failed. Returns the reports that the task's own report must include:
   * at least one. Rejects when the work is no longer needed.
   */
  finish(): Promise<OutputReport[]>;
  /** Stops all uploads, and resolves when they have ended. */
  stop(): Promise<void>;
}

/** Files of one task that are sent at a time; each may send several parts at a time. */
const PARALLEL = 4;

/**
 * `count`: number of outputs of the task. The last output to end is left to the task's own report. Nothing is stored or
 * reported before `verified` resolves. The caller handles a rejection of `verified`.
 */
export function openDelivery(count: number, taskDeps: TaskDeps, verified: Promise<void> = Promise.resolve()): Delivery {
  const stopping = new AbortController();
  const deps = { ...taskDeps, signal: AbortSignal.any([taskDeps.signal, stopping.signal]) };
  const meter = createUploadMeter((fraction) => deps.progress("uploading", fraction));
  const limiter = new Limiter(PARALLEL);
  const deliveries: Promise<void>[] = [];
  const rest: OutputReport[] = [];
  let ended = 0;
  /** The failure of an output whose storage is down: the other outputs are not retried for as long again. */
  let down: Failure | null = null;

  const report = async (output: OutputReport): Promise<void> => {
    ended += 1;
    const isTaken = ended < count && (await untilAborted(deps.report([output]), deps.signal));
    if (!isTaken) rest.push(output);
  };
  const deliver = async (encoded: Encoded): Promise<void> => {
    await untilAborted(verified, deps.signal);
    if ("failure" in encoded) return report(failed(encoded));
    try {
      if (down) return await report(failed({ output: encoded.output, failure: down }));
      const stored = await uploaded(encoded, { ...deps, limiter, meter, storageDown: () => down }, deps.trace);
      await report(await withQuality(await withPlaylistNote(stored, deps), encoded, deps.signal));
    } catch (error) {
      deps.signal.throwIfAborted();
      const failure = uploadFailure(error);
      if (isStorageDown(error)) down ??= failure;
      await report(failed({ output: encoded.output, failure }));
    }
  };
  const idle = async (): Promise<void> => {
    await Promise.allSettled(deliveries);
  };

  return {
    add(outputs) {
      for (const output of smallestFirst(outputs)) {
        if ("failure" in output) deps.log.warn("output failed", failureFields(output));
        meter.expect(bytesOf(output));
        const delivering = deliver(output);
        // `finish` handles the rejection, which may be much later.
        delivering.catch(() => undefined);
        deliveries.push(delivering);
      }
    },
    async finish() {
      meter.start();
      await idle();
      await Promise.all(deliveries);
      return rest;
    },
    async stop() {
      stopping.abort(new Error("The upload was stopped"));
      await idle();
    },
  };
}

const failureFields = ({ output, failure: { code, message } }: FailedOutput) => ({ output, code, error: message });

/** Returns the report of a stored output, with its quality if that is measured. */
async function withQuality(report: OutputReport, { quality }: MadeOutput, signal: AbortSignal): Promise<OutputReport> {
  if (!quality || report.status !== "made") return report;
  return { ...report, quality: await untilAborted(quality, signal) };
}

const failed = ({ output, failure }: FailedOutput): OutputReport => ({ status: "failed", output, failure });

const bytesOf = (output: Encoded): number =>
  "failure" in output
    ? 0
    : (output.publication?.waitingBytes() ?? 0) + output.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** A small file does not wait for a large file of the same run. */
const smallestFirst = (outputs: readonly Encoded[]): Encoded[] => outputs.toSorted((a, b) => bytesOf(a) - bytesOf(b));

/** Stores an output in a span of its own. Throws as `stored` does. */
async function uploaded(encoded: MadeOutput, deps: StoreDeps, trace: TaskTrace): Promise<OutputReport> {
  const end = trace.begin("upload", { "copra.output": encoded.output });
  try {
    const report = await stored(encoded, deps);
    end("failure" in report ? report.failure.code : null);
    return report;
  } catch (error) {
    end(deps.signal.aborted ? "interrupted" : uploadFailure(error).code);
    throw error;
  }
}

/** Stores all files of an output. Throws AppError `storage_*`, and as `requestUploads` does. */
async function stored(
  { output, publication, probe, files, videos: _, quality: _quality, ...described }: MadeOutput,
  deps: StoreDeps,
): Promise<OutputReport> {
  if (!publication)
    return { status: "made", output, files: await storeFiles(output, files, deps), probe, ...described };
  const result = await publication.finish((bytes) => deps.meter.update(publication, bytes));
  if (!result.ok) return failed({ output, failure: result.error });
  return { status: "made", output, probe: null, ...result.value, ...described };
}
