// Brings finished files into the client's storage by signed requests.
import { AppError, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { OutputReport, UploadedFile, UploadTicket } from "#shared/protocol.ts";
import { uploadFile } from "../upload/upload.ts";
import type { MadeFile, MadeOutput } from "./check-output.ts";
import type { TaskDeps } from "./task-deps.ts";

/** Files for which uploads are asked at a time (UploadsRequest allows no more). */
const BATCH = 200;
/** Files that are sent at a time; each may have several parts under way. */
const PARALLEL = 4;

type FileToSend = MadeFile & { output: number; ordinal: number };

/** Uploads all files; an output whose files cannot be stored has failed. */
export async function uploadOutputs(made: readonly MadeOutput[], deps: TaskDeps): Promise<OutputReport[]> {
  const files = made.flatMap(({ output, files }) =>
    files.map((file, index) => ({ ...file, output, ordinal: index + 1 })),
  );
  const meter = uploadMeter(files, deps);
  const sent = new Map<number, UploadedFile[]>();
  const failures = new Map<number, Failure>();
  for (let start = 0; start < files.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH).filter(({ output }) => !failures.has(output));
    await sendBatch(batch, deps, meter, sent, failures);
  }
  return made.map(({ output, probe, encoder, note }): OutputReport => {
    const failure = failures.get(output);
    if (failure) return { status: "failed", output, failure };
    const how = { ...(encoder ? { encoder } : {}), ...(note ? { note } : {}) };
    return { status: "made", output, files: sent.get(output) ?? [], probe, ...how };
  });
}

type Meter = (file: FileToSend, sentBytes: number) => void;

/** Turns bytes sent of single files into the stage's progress. */
function uploadMeter(files: readonly FileToSend[], deps: TaskDeps): Meter {
  const total = Math.max(
    1,
    files.reduce((sum, file) => sum + file.sizeBytes, 0),
  );
  const sent = new Map<FileToSend, number>();
  return (file, sentBytes) => {
    sent.set(file, sentBytes);
    deps.progress("uploading", [...sent.values()].reduce((sum, bytes) => sum + bytes, 0) / total);
  };
}

async function sendBatch(
  batch: readonly FileToSend[],
  deps: TaskDeps,
  meter: Meter,
  sent: Map<number, UploadedFile[]>,
  failures: Map<number, Failure>,
): Promise<void> {
  if (batch.length === 0) return;
  const answer = await deps.askUploads(batch.map(({ output, ordinal, sizeBytes }) => ({ output, ordinal, sizeBytes })));
  if ("failure" in answer) {
    for (const { output } of batch) failures.set(output, answer.failure);
    return;
  }
  const queue = [...batch];
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      if (failures.has(file.output)) continue;
      try {
        const uploaded = await sendFile(file, answer.uploads, deps, meter);
        sent.set(file.output, [...(sent.get(file.output) ?? []), uploaded]);
      } catch (error) {
        deps.signal.throwIfAborted();
        failures.set(file.output, failureOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

async function sendFile(
  file: FileToSend,
  tickets: readonly UploadTicket[],
  deps: TaskDeps,
  meter: Meter,
): Promise<UploadedFile> {
  const { output, ordinal, path } = file;
  const ticket = tickets.find((candidate) => candidate.output === output && candidate.ordinal === ordinal);
  if (!ticket) throw new AppError("storage_unreachable", "The control plane signed no upload for a file");
  const { etags, sizeBytes } = await uploadFile({
    path,
    ticket,
    agent: deps.storages,
    signal: deps.signal,
    onProgress: (bytes) => meter(file, bytes),
  });
  return { output, ordinal, sizeBytes, etags };
}

const failureOf = (error: unknown): Failure =>
  error instanceof AppError
    ? { code: error.code, message: error.message }
    : { code: "storage_unreachable", message: `The upload failed: ${messageOf(error)}` };
