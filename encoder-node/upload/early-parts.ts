// The parts of an upload that started before its file was complete: their tickets, and the stored parts.
import { AppError } from "#shared/errors.ts";
import { StorageRejection } from "#shared/network/storage-failure.ts";
import { MAX_EARLY_PARTS, type UploadPart } from "#shared/protocol/uploads.ts";
import { mapLimitedOrAbort, untilAborted } from "../async/in-parallel.ts";
import type { Content } from "./content.ts";
import { putPart } from "./put-part.ts";
import { requestTicket, type UploadDeps } from "./upload.ts";

/** Parts in one request for signatures while the file grows. */
const GROWING_BATCH = 16;
/** Signatures are valid for 15 minutes (docs/storage.md), and retries of a part may take five of them. */
const FRESH_MS = 10 * 60_000;
const FINAL_BATCH = 100;
const PARALLEL_PARTS = 4;

type Signed = { readonly part: UploadPart; readonly isRenewed: boolean; readonly at: number };

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** The ETag of each part, in order, and the size of the file. */
export type StoredParts = { readonly etags: string[]; readonly sizeBytes: number };

type Sending = {
  readonly content: Content;
  /** The size of the file; 0: not known. */
  readonly fileBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (bytesSent: number) => void;
};

export class EarlyParts {
  readonly #output: number;
  readonly #expectedBytes: number;
  readonly #deps: UploadDeps;
  /** Signatures and ETags by part, from 0. */
  readonly #signed = new Map<number, Signed>();
  readonly #etags = new Map<number, string>();
  #partBytes: number | undefined;
  #isOpen = false;
  /** Requests follow each other: the control plane records one upload for a file. */
  #lastRequest: Promise<void> = Promise.resolve();

  constructor(output: number, expectedBytes: number, deps: UploadDeps) {
    this.#output = output;
    this.#expectedBytes = expectedBytes;
    this.#deps = deps;
  }

  /**
   * Starts the upload, once. Returns the size of all parts but the last; undefined if the storage or the control plane
   * does not support early uploads. Throws the errors of `requestTicket`.
   */
  async open(): Promise<number | undefined> {
    if (!this.#isOpen) await this.#request(numbers(GROWING_BATCH), 0, false);
    this.#isOpen = true;
    return this.#partBytes;
  }

  /** Resolves when no request for signatures is in progress. */
  idle(): Promise<void> {
    return this.#lastRequest;
  }

  /** Stores a single part of a file of unknown size. Throws the errors of `putPart` and `requestTicket`. */
  send(part: number, content: Content): Promise<void> {
    return this.#send(part, { content, fileBytes: 0, signal: this.#deps.signal, onProgress: () => undefined });
  }

  async #send(part: number, { content, fileBytes, signal, onProgress }: Sending): Promise<void> {
    const { storages, log, hold } = this.#deps;
    for (;;) {
      if (!this.#isFresh(part)) await this.#requestFrom(part, fileBytes, signal);
      const signed = this.#signed.get(part);
      if (!signed) throw new AppError("node_failed", `The ticket has no part ${part}`);
      try {
        const sent = { content, part: signed.part, agent: storages, signal, log, hold, onProgress };
        this.#etags.set(part, await putPart(sent));
        return;
      } catch (error) {
        if (!(error instanceof StorageRejection && error.mayBeExpired) || signed.isRenewed) throw error;
        await this.#request([part], fileBytes, true);
      }
    }
  }

  /**
   * Stores the missing parts of the finished file. Stores parts again that had bytes beyond the end of the file. Throws
   * the errors of `send`, and AppError `node_failed` for a file with too many parts.
   */
  async finish(content: Content, onProgress: (bytesSent: number) => void): Promise<StoredParts> {
    const { sizeBytes } = content;
    const partBytes = this.#partBytes ?? 0;
    const count = Math.ceil(sizeBytes / partBytes);
    if (!(count <= MAX_EARLY_PARTS)) throw new AppError("node_failed", "The file has too many parts");
    const missing = numbers(count).filter((part) => !this.#etags.has(part) || (part + 1) * partBytes > sizeBytes);
    // Signatures contain the size of their part, and the control plane learns the size of the file.
    this.#signed.clear();
    const sizeOf = (part: number): number => Math.min(partBytes, sizeBytes - part * partBytes);
    let stored = sizeBytes - missing.reduce((sum, part) => sum + sizeOf(part), 0);
    const current = new Map<number, number>();
    const report = (): void => onProgress(stored + [...current.values()].reduce((sum, bytes) => sum + bytes, 0));
    report();
    for (let start = 0; start < missing.length; start += FINAL_BATCH) {
      const batch = missing.slice(start, start + FINAL_BATCH);
      await this.#request(batch, sizeBytes, false);
      await mapLimitedOrAbort(batch, PARALLEL_PARTS, this.#deps.signal, async (part, _, signal) => {
        const progress = (bytes: number): void => {
          current.set(part, bytes);
          report();
        };
        await this.#send(part, { content, fileBytes: sizeBytes, signal, onProgress: progress });
        current.delete(part);
        stored += sizeOf(part);
      });
    }
    return { etags: numbers(count).map((part) => this.#etags.get(part) ?? ""), sizeBytes };
  }

  #isFresh(part: number): boolean {
    const signed = this.#signed.get(part);
    return signed !== undefined && performance.now() - signed.at < FRESH_MS;
  }

  /** Requests signatures for this part and for the parts that are sent next. */
  async #requestFrom(part: number, fileBytes: number, signal: AbortSignal): Promise<void> {
    const last = fileBytes === 0 ? MAX_EARLY_PARTS - 1 : part;
    const following = numbers(GROWING_BATCH).map((at) => part + at);
    await untilAborted(
      this.#request(
        following.filter((part) => part <= last),
        fileBytes,
        false,
      ),
      signal,
    );
  }

  /** Requests signatures, a single request at a time. Keeps fresh signatures of an earlier request. */
  #request(parts: readonly number[], fileBytes: number, isRenewed: boolean): Promise<void> {
    const requested = this.#lastRequest.then(() => this.#sign(parts, fileBytes, isRenewed));
    this.#lastRequest = requested.catch(() => undefined);
    return requested;
  }

  async #sign(wanted: readonly number[], sizeBytes: number, isRenewed: boolean): Promise<void> {
    const parts = isRenewed ? [...wanted] : wanted.filter((part) => !this.#isFresh(part));
    // Parts that are sent at the same time request signatures for each other.
    const [first] = wanted;
    if (first === undefined || first !== parts[0]) return;
    const early = { expectedBytes: this.#expectedBytes, parts };
    const file = { output: this.#output, file: 1, sizeBytes, early };
    const ticket = await requestTicket(file, this.#deps.requestUploads);
    if (this.#partBytes !== undefined && ticket.partBytes !== this.#partBytes) {
      throw new AppError("node_failed", "The control plane started another upload");
    }
    this.#partBytes = ticket.partBytes;
    if (ticket.partBytes === undefined) return;
    for (const [at, part] of parts.entries()) {
      const signed = ticket.parts[at];
      if (signed?.offset !== part * ticket.partBytes) {
        throw new AppError("node_failed", "The control plane signed other ranges than requested");
      }
      this.#signed.set(part, { part: signed, isRenewed, at: performance.now() });
    }
  }
}
