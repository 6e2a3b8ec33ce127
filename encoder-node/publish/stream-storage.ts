// Brings the many small files of one stream into the storage while it is made: a queue, a few senders, tickets in batches.
import { AppError, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadedFile, UploadTicket } from "#shared/protocol/protocol.ts";
import { untilAborted } from "../async/until-aborted.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { askTicket } from "../upload/ask-ticket.ts";
import type { Content } from "../upload/content.ts";
import { uploadContent } from "../upload/upload.ts";

export type StreamFile = {
  /** Its name in the protocol: package, stream folder, and so on. */
  readonly file: string;
  readonly content: Content;
  readonly onStored?: (uploaded: UploadedFile) => unknown;
};

export interface StreamStorage {
  /** Has the files sent, in this order as far as they go one after the other; after a failure they are forgotten. */
  add(files: readonly StreamFile[]): void;
  /**
   * Waits until all that was added is stored, or cannot be: then it answers why. `onBytes` is told how much of what
   * waited at first is stored. Rejects when the lease or the work is no longer wanted.
   */
  settled(onBytes?: (storedBytes: number) => void): Promise<Failure | null>;
  /** Bytes that are added and not stored. */
  waitingBytes(): number;
  failed(): boolean;
  /** Aborts when that is so. */
  readonly broken: AbortSignal;
  /** Stops what is under way, and resolves when nothing is. */
  stop(): Promise<void>;
}

export type StorageDeps = Pick<TaskDeps, "askUploads" | "storages" | "signal">;

/** Files that are sent at a time. */
const PARALLEL = 4;
/** What is asked for at a time: signatures do not last for ever, and what is asked for is sent next. */
const BATCH_FILES = 50;
const BATCH_BYTES = 128 * 2 ** 20;

type Ticketed = { readonly item: StreamFile; readonly ticket: UploadTicket };

export function openStreamStorage(output: number, deps: StorageDeps): StreamStorage {
  const waiting: StreamFile[] = [];
  const ticketed: Ticketed[] = [];
  const senders = new Set<Promise<void>>();
  const stop = new AbortController();
  const broken = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  let asking: Promise<void> | null = null;
  let trouble: { error: unknown } | null = null;
  let waitingBytes = 0;
  let tell: (storedBytes: number) => void = () => undefined;

  const fail = (error: unknown): void => {
    trouble ??= { error };
    waiting.length = 0;
    ticketed.length = 0;
    stop.abort();
    broken.abort();
  };

  const ask = async (): Promise<void> => {
    const batch = waiting.splice(0, batchLength(waiting));
    const files = batch.map(({ file, content: { sizeBytes } }) => ({ output, file, sizeBytes }));
    const answer = await untilAborted(deps.askUploads(files), signal);
    if ("failure" in answer) throw new AppError(answer.failure.code, answer.failure.message);
    const tickets = new Map(answer.uploads.map((ticket) => [ticket.file, ticket]));
    for (const item of batch) {
      const ticket = tickets.get(item.file);
      if (!ticket) throw new AppError("storage_unreachable", "The control plane signed no upload for a file");
      ticketed.push({ item, ticket });
    }
  };

  /** The next to send; null when there is none. */
  const next = async (): Promise<Ticketed | null> => {
    while (ticketed.length === 0) {
      if (waiting.length === 0 && !asking) return null;
      asking ??= ask().finally(() => {
        asking = null;
      });
      await asking;
    }
    return ticketed.shift() ?? null;
  };

  const send = async ({ item: { file, content, onStored }, ticket }: Ticketed): Promise<void> => {
    const { etags, sizeBytes } = await uploadContent({
      ...{ content, ticket, agent: deps.storages, signal },
      renew: () => askTicket({ output, file, sizeBytes: content.sizeBytes }, deps.askUploads),
    });
    await onStored?.({ output, file, sizeBytes, etags });
    waitingBytes -= sizeBytes;
    tell(sizeBytes);
  };

  const startSender = (): void => {
    const run = async (): Promise<void> => {
      for (let found = await next(); found; found = await next()) await send(found);
    };
    const sender = run()
      .catch(fail)
      .finally(() => senders.delete(sender));
    senders.add(sender);
  };

  const idle = async (): Promise<void> => {
    while (senders.size > 0) await Promise.all(senders);
  };

  return {
    add(files) {
      if (signal.aborted) return;
      for (const file of files) {
        waiting.push(file);
        waitingBytes += file.content.sizeBytes;
      }
      for (let free = Math.min(PARALLEL - senders.size, files.length); free > 0; free--) startSender();
    },
    async settled(onBytes) {
      let stored = 0;
      tell = (bytes) => {
        stored += bytes;
        onBytes?.(stored);
      };
      await idle();
      deps.signal.throwIfAborted();
      return trouble && failureOf(trouble.error);
    },
    waitingBytes: () => waitingBytes,
    failed: () => trouble !== null,
    broken: broken.signal,
    async stop() {
      stop.abort();
      await idle();
    },
  };
}

/** How many of the first are asked for together: one at least. */
function batchLength(waiting: readonly StreamFile[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex(({ content }, at) => {
    bytes += content.sizeBytes;
    return at > 0 && (at === BATCH_FILES || bytes > BATCH_BYTES);
  });
  return tooMany === -1 ? waiting.length : tooMany;
}

/** Codes that say that nobody wants the work any more. */
const UNWANTED: ReadonlySet<string> = new Set(["lease_superseded", "cancelled"]);

/** Rethrows what is no matter of this stream alone. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof AppError)) {
    return { code: "storage_unreachable", message: `The upload failed: ${messageOf(error)}` };
  }
  if (UNWANTED.has(error.code)) throw error;
  return { code: error.code, message: error.message };
}
