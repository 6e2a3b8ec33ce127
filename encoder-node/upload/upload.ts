// Uploads a file by its ticket: signed requests for the ranges of a single object. Knows no storage service.
import type { Dispatcher } from "undici";
import { AppError } from "#shared/errors.ts";
import { isFolderUrl } from "#shared/job/folder-url.ts";
import type { Logger } from "#shared/log.ts";
import { StorageRejection } from "#shared/network/storage-failure.ts";
import type { UploadPart, UploadsAnswer, UploadsRequest, UploadTicket } from "#shared/protocol/uploads.ts";
import { mapLimitedOrAbort } from "../async/in-parallel.ts";
import { Renewable } from "../async/renewable.ts";
import type { NodeFolders } from "../folders/node-folders.ts";
import type { Content } from "./content.ts";
import { putPart } from "./put-part.ts";
import type { RetryPolicy, StorageHold } from "./retry-policy.ts";
import { storeInFolder } from "./store-in-folder.ts";

/**
 * Requests signed uploads from the control plane, with retries. Throws AppError `lease_superseded`, `node_failed` or
 * `cancelled`.
 */
export type RequestUploads = (files: UploadsRequest["files"]) => Promise<UploadsAnswer>;

/** Dependencies that all transfers of a task share. */
export type TransferDeps = {
  /** A single agent for all uploads, so that they share connections. */
  readonly storages: Dispatcher;
  /** Folders for tickets that name a file in a folder; none by default. */
  readonly folders?: NodeFolders | undefined;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Keeps files while the storage is unreachable; none by default. */
  readonly hold?: StorageHold | undefined;
};

export type UploadDeps = TransferDeps & { readonly requestUploads: RequestUploads };

export type Upload = {
  readonly content: Content;
  readonly ticket: Pick<UploadTicket, "parts">;
  /** Returns a ticket for the same parts with new signatures. */
  readonly renew: () => Promise<Pick<UploadTicket, "parts">>;
  /** Receives the bytes of the file that were handed to the network; never decreases. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined;
  readonly retryPolicy?: Partial<RetryPolicy> | undefined;
};

const PARALLEL_PARTS = 4;

/**
 * Uploads the parts, up to 4 at a time, and returns the ETag of each part in the ticket's order. When the storage
 * rejects a signature as if it had expired, the upload requests new signatures. Stored parts are not sent again.
 * Throws the first failure that retries cannot fix (see put-part.ts) after it stopped the other parts. Throws AppError
 * `node_failed` when the size of the content differs from the ticket. An abort rejects with the signal's reason.
 */
export async function uploadContent(
  upload: Upload,
  { storages: agent, folders = new Map(), signal, log, hold }: TransferDeps,
): Promise<{ etags: string[]; sizeBytes: number }> {
  const { content, ticket, retryPolicy } = upload;
  const signed = new Renewable<readonly UploadPart[]>(ticket.parts, () => renewedParts(upload));
  signal.throwIfAborted();
  const sizeBytes = checkSize(content, ticket.parts);
  const [first] = ticket.parts;
  if (first && isFolderUrl(first.url)) {
    await storeInFolder(first.url, { ...upload, folders, signal });
    return { etags: [""], sizeBytes };
  }
  const report = progressOf(upload);
  const etags = await mapLimitedOrAbort(ticket.parts, PARALLEL_PARTS, signal, async (_, index, stopped) => {
    const onProgress = (bytes: number): void => report(index, bytes);
    for (;;) {
      stopped.throwIfAborted();
      const used = signed.latest;
      const part = used.value[index];
      if (!part) throw new AppError("node_failed", `The ticket has no part ${index}`);
      try {
        const etag = await putPart({ content, part, agent, signal: stopped, log, hold, onProgress }, retryPolicy);
        used.mayHaveExpired = true;
        return etag;
      } catch (error) {
        if (!(error instanceof StorageRejection && error.mayBeExpired)) throw error;
        if (!(await signed.renew(used, stopped))) throw error;
      }
    }
  });
  return { etags, sizeBytes };
}

/**
 * Requests a ticket for a single file. Throws AppError with the control plane's reason when it signs no ticket, and the
 * errors of `requestUploads`.
 */
export async function requestTicket(
  file: UploadsRequest["files"][number],
  requestUploads: RequestUploads,
): Promise<UploadTicket> {
  const answer = await requestUploads([file]);
  if ("failure" in answer) throw AppError.from(answer.failure);
  const [ticket] = answer.uploads;
  if (!ticket) throw noTicket();
  return ticket;
}

/** The control plane's answer lacks the ticket of a file. */
export const noTicket = (): AppError =>
  new AppError("storage_unreachable", "The control plane signed no upload for a file; try again later.");

/** The parts of a new ticket, which must have the same ranges. */
async function renewedParts({ ticket, renew }: Upload): Promise<readonly UploadPart[]> {
  const { parts } = await renew();
  if (!hasSameRanges(parts, ticket.parts)) {
    throw new AppError("node_failed", "The control plane signed other ranges than before");
  }
  return parts;
}

const hasSameRanges = (parts: readonly UploadPart[], others: readonly UploadPart[]): boolean =>
  parts.length === others.length &&
  parts.every(({ offset, sizeBytes }, at) => offset === others[at]?.offset && sizeBytes === others[at]?.sizeBytes);

/**
 * The size of the content. The parts must cover exactly this size: a storage would accept another size without an
 * error.
 */
function checkSize({ sizeBytes }: Content, parts: readonly UploadPart[]): number {
  const planned = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  if (sizeBytes === planned) return planned;
  throw new AppError("node_failed", `A finished file has ${sizeBytes} bytes instead of the announced ${planned}.`);
}

/** Adds up the progress of the parts. A part that is sent again does not decrease the sum. */
function progressOf({ onProgress }: Upload): (index: number, bytesSent: number) => void {
  const sent = new Map<number, number>();
  let sum = 0;
  let highest = 0;
  return (index, bytesSent) => {
    sum += bytesSent - (sent.get(index) ?? 0);
    sent.set(index, bytesSent);
    if (sum > highest) onProgress?.(sum);
    highest = Math.max(highest, sum);
  };
}
