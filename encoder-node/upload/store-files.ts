// The files of one output on their way to the storage, by signed requests.
import { AppError, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadedFile, UploadTicket } from "#shared/protocol/protocol.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { askTicket } from "./ask-ticket.ts";
import { fileContent } from "./content.ts";
import type { MadeFile } from "./made-file.ts";
import { StorageDown } from "./put-part.ts";
import { uploadContent } from "./upload.ts";
import type { UploadMeter } from "./upload-meter.ts";

/** Files for which uploads are asked at a time (UploadsRequest allows no more). */
const BATCH = 200;

/** Lets only so many files of a task be sent at a time. */
export type FileLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export type StoreDeps = Pick<TaskDeps, "askUploads" | "storages" | "signal"> & {
  readonly limit: FileLimit;
  readonly meter: UploadMeter;
  /** Why the storage was given up for another output of the task, null while it was not. */
  isDown(): Failure | null;
};

type FileToSend = MadeFile & { readonly output: number; readonly file: number };

/** Stores all files of an output, numbered from 1. After a failure, which is thrown, the others are not begun. */
export async function storeFiles(output: number, made: readonly MadeFile[], deps: StoreDeps): Promise<UploadedFile[]> {
  const files = made.map((file, index) => ({ ...file, output, file: index + 1 }));
  const stored: UploadedFile[] = [];
  for (let start = 0; start < files.length; start += BATCH) {
    stored.push(...(await storeBatch(files.slice(start, start + BATCH), deps)));
  }
  return stored;
}

async function storeBatch(batch: readonly FileToSend[], deps: StoreDeps): Promise<UploadedFile[]> {
  const answer = await deps.askUploads(batch.map(({ output, file, sizeBytes }) => ({ output, file, sizeBytes })));
  if ("failure" in answer) throw new AppError(answer.failure.code, answer.failure.message);
  const { uploads } = answer;
  let trouble: { error: unknown } | null = null;
  const send = async (file: FileToSend): Promise<UploadedFile | null> => {
    const down = deps.isDown();
    if (down) trouble ??= { error: new AppError(down.code, down.message) };
    if (trouble) return null;
    return sendFile(file, uploads, deps).catch((error: unknown) => {
      trouble ??= { error };
      return null;
    });
  };
  const sent = await Promise.all(batch.map((file) => deps.limit(() => send(file))));
  if (trouble) throw (trouble as { error: unknown }).error;
  return sent.filter((file) => file !== null);
}

async function sendFile(
  file: FileToSend,
  tickets: readonly UploadTicket[],
  { askUploads, storages, signal, meter }: StoreDeps,
): Promise<UploadedFile> {
  const { output, path, sizeBytes: announced } = file;
  const ticket = tickets.find((candidate) => candidate.output === output && candidate.file === file.file);
  if (!ticket) throw new AppError("storage_unreachable", "The control plane signed no upload for a file");
  const { etags, sizeBytes } = await uploadContent({
    content: await fileContent(path),
    ticket,
    renew: () => askTicket({ output, file: file.file, sizeBytes: announced }, askUploads),
    agent: storages,
    signal,
    onProgress: (bytes) => meter.note(file, bytes),
  });
  return { output, file: file.file, sizeBytes, etags };
}

export const failureOf = (error: unknown): Failure =>
  error instanceof AppError
    ? { code: error.code, message: error.message }
    : { code: "storage_unreachable", message: `The upload failed: ${messageOf(error)}` };

/** Whether the storage was given up after all retries. */
export const isStorageDown = (error: unknown): boolean => error instanceof StorageDown;
