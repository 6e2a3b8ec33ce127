// Brings finished outputs into the client's storage, each as soon as it is encoded, and reports it as soon as it is stored.
import type { Failure } from "#shared/errors.ts";
import type { OutputReport } from "#shared/protocol/protocol.ts";
import { limiter } from "../../async/in-parallel.ts";
import { untilAborted } from "../../async/until-aborted.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { type FileLimit, failureOf, isStorageDown, storeFiles } from "../../upload/store-files.ts";
import { type UploadMeter, uploadMeter } from "../../upload/upload-meter.ts";
import type { FailedOutput, MadeOutput } from "./check-output.ts";

/** What encoding made of an output. */
export type Encoded = MadeOutput | FailedOutput;

export interface Delivery {
  /** Begins to upload outputs that are encoded; those that failed are reported. */
  add(outputs: readonly Encoded[]): void;
  /**
   * Resolves when all that was added is stored or given up, with the reports that the task's own must bring: one at
   * least. Rejects when the work is no longer wanted.
   */
  finish(): Promise<OutputReport[]>;
  /** Stops what is under way, and resolves when nothing is. */
  stop(): Promise<void>;
}

/** Files of one task that are sent at a time; each may have several parts under way. */
const PARALLEL = 4;

/** `count` is how many outputs the task has: the report of the last one to end is left to the task's own. */
export function openDelivery(count: number, taskDeps: TaskDeps): Delivery {
  const stopping = new AbortController();
  const deps = { ...taskDeps, signal: AbortSignal.any([taskDeps.signal, stopping.signal]) };
  const meter = uploadMeter(deps);
  const limit = limiter(PARALLEL);
  const underway: Promise<void>[] = [];
  const rest: OutputReport[] = [];
  let ended = 0;
  /** Why the storage was given up for one output: the others are not tried for as long again. */
  let down: Failure | null = null;

  const ends = async (report: OutputReport): Promise<void> => {
    ended += 1;
    const isTaken = ended < count && (await untilAborted(deps.report([report]), deps.signal));
    if (!isTaken) rest.push(report);
  };
  const deliver = async (encoded: Encoded): Promise<void> => {
    if ("failure" in encoded) return ends(failed(encoded));
    try {
      if (down) return await ends(failed({ output: encoded.output, failure: down }));
      await ends(await stored(encoded, { ...deps, limit, meter, isDown: () => down }));
    } catch (error) {
      deps.signal.throwIfAborted();
      const failure = failureOf(error);
      if (isStorageDown(error)) down ??= failure;
      await ends(failed({ output: encoded.output, failure }));
    }
  };
  const idle = async (): Promise<void> => {
    await Promise.allSettled(underway);
  };

  return {
    add(outputs) {
      for (const output of smallestFirst(outputs)) {
        meter.expect(bytesOf(output));
        const delivering = deliver(output);
        // It is looked at in `finish`, which may be long after.
        delivering.catch(() => undefined);
        underway.push(delivering);
      }
    },
    async finish() {
      meter.begin();
      await idle();
      await Promise.all(underway);
      return rest;
    },
    async stop() {
      stopping.abort(new Error("The delivery was stopped"));
      await idle();
    },
  };
}

const failed = ({ output, failure }: FailedOutput): OutputReport => ({ status: "failed", output, failure });

const bytesOf = (output: Encoded): number =>
  "failure" in output
    ? 0
    : (output.publication?.waitingBytes() ?? 0) + output.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** A small file is not to wait for a large one that was made by the same run. */
const smallestFirst = (outputs: readonly Encoded[]): Encoded[] => outputs.toSorted((a, b) => bytesOf(a) - bytesOf(b));

type Storing = TaskDeps & { readonly limit: FileLimit; readonly meter: UploadMeter; isDown(): Failure | null };

/** Stores all files of an output. Throws AppError `storage_*`, and what the asking for uploads throws. */
async function stored(made: MadeOutput, deps: Storing): Promise<OutputReport> {
  const { output, publication, probe, files } = made;
  if (!publication) {
    return { status: "made", output, files: await storeFiles(output, files, deps), probe, ...described(made) };
  }
  const result = await publication.finish((bytes) => deps.meter.note(publication, bytes));
  if ("failure" in result) return failed({ output, failure: result.failure });
  return { status: "made", output, probe: null, ...result, ...described(made) };
}

const described = ({ encoder, note }: MadeOutput): Pick<MadeOutput, "encoder" | "note"> => ({
  ...(encoder ? { encoder } : {}),
  ...(note ? { note } : {}),
});
