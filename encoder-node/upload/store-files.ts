// Stores the files of an output in the client's storage.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadedFile, UploadTicket } from "#shared/protocol/uploads.ts";
import type { Limiter } from "../async/in-parallel.ts";
import { fileContent } from "./content.ts";
import type { MadeFile } from "./made-file.ts";
import { StorageDown } from "./put-part.ts";
import { noTicket, requestTicket, type UploadDeps, uploadContent } from "./upload.ts";

/** Files in a single request for uploads (the maximum of UploadsRequest). */
const BATCH = 200;

export type StoreDeps = UploadDeps & {
  /** Limits the files of the task that are sent at a time. */
  readonly limiter: Limiter;
  readonly meter: UploadMeter;
  /** The failure of another output of the task, caused by a storage that is down; null without such a failure. */
  storageDown(): Failure | null;
};

type FileToSend = MadeFile & { readonly output: number; readonly file: number };

/** Stores all files of an output, numbered from 1. Throws the first failure, and then starts no other file. */
export async function storeFiles(output: number, made: readonly MadeFile[], deps: StoreDeps): Promise<UploadedFile[]> {
  const all = made.map((file, index) => ({ ...file, output, file: index + 1 }));
  const stored: UploadedFile[] = [];
  const files: FileToSend[] = [];
  for (const file of all) {
    const finished = await deps.limiter.run(() => finishEarly(file, deps));
    if (finished) stored.push(finished);
    else files.push(file);
  }
  for (let start = 0; start < files.length; start += BATCH) {
    stored.push(...(await storeBatch(files.slice(start, start + BATCH), deps)));
  }
  return stored;
}

/** Finishes an upload that started while its file was written. Null if the whole file must be uploaded. */
async function finishEarly(file: FileToSend, { meter }: StoreDeps): Promise<UploadedFile | null> {
  if (!file.early) return null;
  const content = file.content ?? (await fileContent(file.path));
  const parts = await file.early.finish(content, (bytes) => meter.update(file, bytes));
  return parts && { output: file.output, file: file.file, ...parts };
}

async function storeBatch(batch: readonly FileToSend[], deps: StoreDeps): Promise<UploadedFile[]> {
  const answer = await deps.requestUploads(batch.map(({ output, file, sizeBytes }) => ({ output, file, sizeBytes })));
  if ("failure" in answer) throw AppError.from(answer.failure);
  const { uploads } = answer;
  let failed: { error: unknown } | null = null;
  const send = async (file: FileToSend): Promise<UploadedFile | null> => {
    const down = deps.storageDown();
    if (down) failed ??= { error: AppError.from(down) };
    if (failed) return null;
    return sendFile(file, uploads, deps).catch((error: unknown) => {
      failed ??= { error };
      return null;
    });
  };
  const sent = await Promise.all(batch.map((file) => deps.limiter.run(() => send(file))));
  if (failed) throw (failed as { error: unknown }).error;
  return sent.filter((file) => file !== null);
}

async function sendFile(item: FileToSend, tickets: readonly UploadTicket[], deps: StoreDeps): Promise<UploadedFile> {
  const { output, file, path, sizeBytes } = item;
  const ticket = tickets.find((candidate) => candidate.output === output && candidate.file === file);
  if (!ticket) throw noTicket();
  const content = item.content ?? (await fileContent(path));
  const renew = () => requestTicket({ output, file, sizeBytes }, deps.requestUploads);
  const onProgress = (bytes: number): void => deps.meter.update(item, bytes);
  return { output, file, ...(await uploadContent({ content, ticket, renew, onProgress }, deps)) };
}

/** The failure of an output whose upload threw. */
export const uploadFailure = (error: unknown): Failure =>
  error instanceof AppError
    ? failureOf(error)
    : { code: "storage_unreachable", message: `The upload failed: ${messageOf(error)}` };

/** True if the upload gave up after all retries. */
export const isStorageDown = (error: unknown): boolean => error instanceof StorageDown;

// The progress of all uploads of a task, as a single fraction.

export interface UploadMeter {
  /** Adds bytes that are to be sent. */
  expect(bytes: number): void;
  /** Sets the number of sent bytes of `item`. */
  update(item: object, sentBytes: number): void;
  /** Starts to report: from now on, the task only uploads. */
  start(): void;
}

/** `onProgress` receives the sent fraction of all expected bytes. */
export function createUploadMeter(onProgress: (fraction: number) => void): UploadMeter {
  const sent = new Map<object, number>();
  let expected = 0;
  let isStarted = false;
  const report = (): void => {
    const sum = [...sent.values()].reduce((total, bytes) => total + bytes, 0);
    if (isStarted) onProgress(sum / Math.max(1, expected));
  };
  return {
    expect(bytes) {
      expected += bytes;
    },
    update(item, sentBytes) {
      sent.set(item, sentBytes);
      report();
    },
    start() {
      isStarted = true;
      report();
    },
  };
}
