// Uploads the many small files of a stream while it is encoded: a queue, a few senders, and tickets in batches.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { UploadedFile, UploadsRequest, UploadTicket } from "#shared/protocol/uploads.ts";
import { untilAborted } from "../async/in-parallel.ts";
import type { Content } from "../upload/content.ts";
import { uploadFailure } from "../upload/store-files.ts";
import { noTicket, requestTicket, type UploadDeps, uploadContent } from "../upload/upload.ts";

export type StreamFile = {
  /** Its name in the protocol: package, stream folder, and so on. */
  readonly file: string;
  readonly content: Content;
  /** A playlist that a longer playlist will replace. */
  readonly growing?: boolean;
  readonly onStored?: (uploaded: UploadedFile) => unknown;
};

/** Files that are sent at a time. */
const PARALLEL = 4;
/** The limits of a request for tickets. Signatures expire, so a ticket is requested just before its file is sent. */
const BATCH_FILES = 50;
const BATCH_BYTES = 128 * 2 ** 20;

type Ticketed = { readonly item: StreamFile; readonly ticket: UploadTicket };

export class StreamStorage {
  readonly #output: number;
  readonly #deps: UploadDeps;
  readonly #waiting: StreamFile[] = [];
  readonly #ticketed: Ticketed[] = [];
  readonly #senders = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #broken = new AbortController();
  readonly #signal: AbortSignal;
  #request: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #waitingBytes = 0;
  #onStored: (sizeBytes: number) => void = () => undefined;

  constructor(output: number, deps: UploadDeps) {
    this.#output = output;
    this.#deps = deps;
    this.#signal = AbortSignal.any([deps.signal, this.#stop.signal]);
  }

  /** Aborts when an upload has failed. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** Bytes that are added but not stored. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Queues files, which are started in this order. Ignores files after a failure. */
  add(files: readonly StreamFile[]): void {
    if (this.#signal.aborted) return;
    for (const file of files) {
      this.#waiting.push(file);
      this.#waitingBytes += file.content.sizeBytes;
    }
    for (let free = Math.min(PARALLEL - this.#senders.size, files.length); free > 0; free--) this.#startSender();
  }

  /**
   * Resolves when all files are stored (null) or an upload has failed. `onBytes` receives the number of waiting bytes
   * that are stored. Rejects when the lease or the work is no longer needed.
   */
  async settled(onBytes?: (storedBytes: number) => void): Promise<Failure | null> {
    let stored = 0;
    this.#onStored = (bytes) => {
      stored += bytes;
      onBytes?.(stored);
    };
    await this.#idle();
    this.#deps.signal.throwIfAborted();
    return this.#failure && streamFailure(this.#failure.error);
  }

  /** Stops all uploads, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#idle();
  }

  #startSender(): void {
    const run = async (): Promise<void> => {
      for (let next = await this.#next(); next; next = await this.#next()) await this.#send(next);
    };
    const sender = run()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#senders.delete(sender));
    this.#senders.add(sender);
  }

  /** The next file to send; null when no file is waiting. */
  async #next(): Promise<Ticketed | null> {
    while (this.#ticketed.length === 0) {
      if (this.#waiting.length === 0 && !this.#request) return null;
      this.#request ??= this.#requestTickets().finally(() => {
        this.#request = null;
      });
      await this.#request;
    }
    return this.#ticketed.shift() ?? null;
  }

  async #requestTickets(): Promise<void> {
    const batch = this.#waiting.splice(0, batchLength(this.#waiting));
    const files = batch.map((item) => this.#requested(item));
    const answer = await untilAborted(this.#deps.requestUploads(files), this.#signal);
    if ("failure" in answer) throw AppError.from(answer.failure);
    const tickets = new Map(answer.uploads.map((ticket) => [ticket.file, ticket]));
    for (const item of batch) {
      const ticket = tickets.get(item.file);
      if (!ticket) throw noTicket();
      this.#ticketed.push({ item, ticket });
    }
  }

  #requested({ file, content: { sizeBytes }, growing = false }: StreamFile): UploadsRequest["files"][number] {
    return { output: this.#output, file, sizeBytes, ...(growing ? { growing } : {}) };
  }

  async #send({ item, ticket }: Ticketed): Promise<void> {
    const { file, content, onStored } = item;
    const renew = () => requestTicket(this.#requested(item), this.#deps.requestUploads);
    const stored = await uploadContent({ content, ticket, renew }, { ...this.#deps, signal: this.#signal });
    await onStored?.({ output: this.#output, file, ...stored });
    this.#waitingBytes -= stored.sizeBytes;
    this.#onStored(stored.sizeBytes);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#waiting.length = 0;
    this.#ticketed.length = 0;
    this.#stop.abort();
    this.#broken.abort();
  }

  async #idle(): Promise<void> {
    while (this.#senders.size > 0) await Promise.all(this.#senders);
  }
}

/** Number of first files that fit in a request: at least 1. */
function batchLength(waiting: readonly StreamFile[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex(({ content }, at) => {
    bytes += content.sizeBytes;
    return at > 0 && (at === BATCH_FILES || bytes > BATCH_BYTES);
  });
  return tooMany === -1 ? waiting.length : tooMany;
}

/** Error codes that mean that the work is no longer needed. */
const UNWANTED: ReadonlySet<string> = new Set(["lease_superseded", "cancelled"]);

/** The failure of the stream. Rethrows errors that end the whole task. */
function streamFailure(error: unknown): Failure {
  if (!(error instanceof AppError)) return uploadFailure(error);
  if (UNWANTED.has(error.code)) throw error;
  return failureOf(error);
}
