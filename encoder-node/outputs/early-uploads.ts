// Uploads of a task's files that start while ffmpeg still writes the files.
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { Limiter } from "../async/in-parallel.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { type EarlyUpload, openEarlyUpload } from "../upload/early-upload.ts";
import type { UploadDeps } from "../upload/upload.ts";

/** Uploads of the files of one command. */
export type GrowingUploads = {
  /** By output. */
  readonly byOutput: ReadonlyMap<number, EarlyUpload>;
  /** `fraction`: the share of the files that is written, from 0 to 1. */
  progressed(fraction: number): void;
  stop(): Promise<void>;
};

export interface EarlyUploads {
  /** Starts to upload the files of these outputs that ffmpeg will write. */
  follow(outputs: readonly PlannedOutput[], made: RunFiles): GrowingUploads;
  stop(): Promise<void>;
}

/** Parts of all files that are sent at a time. An encode is seldom faster than one connection. */
const PARALLEL_PARTS = 8;

/** Nothing is stored before `verified` resolves. The caller handles a rejection of `verified`. */
export function openEarlyUploads(verified: Promise<void>, deps: UploadDeps): EarlyUploads {
  const started: EarlyUpload[] = [];
  const shared = { ...deps, limiter: new Limiter(PARALLEL_PARTS) };
  return {
    follow(outputs, runFiles) {
      let written = 0;
      const byOutput = new Map<number, EarlyUpload>();
      for (const { output, files, growing } of outputs) {
        const [name, ...others] = files;
        if (!growing || name === undefined || others.length > 0) continue;
        const { reservedBytes } = growing;
        const file = { output, find: () => runFiles.take(name), reservedBytes, fraction: () => written };
        byOutput.set(output, openEarlyUpload(file, verified, shared));
      }
      started.push(...byOutput.values());
      return {
        byOutput,
        progressed: (fraction) => {
          written = fraction;
        },
        stop: () => stopped([...byOutput.values()]),
      };
    },
    stop: () => stopped(started),
  };
}

async function stopped(uploads: readonly EarlyUpload[]): Promise<void> {
  await Promise.all(uploads.map((upload) => upload.stop()));
}
