// Executes upload tickets: signed requests for the ranges of one file. Knows no storage service.
import { stat } from "node:fs/promises";
import type { Dispatcher } from "undici";
import type { BackoffPolicy } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { UploadPart, UploadTicket } from "#shared/protocol.ts";
import { putPart } from "./put-part.ts";

export type Upload = {
  readonly path: string;
  readonly ticket: Pick<UploadTicket, "parts">;
  /** One for all uploads, so that they share connections. */
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  /** Bytes of the whole file handed to the network; never falls. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined;
  readonly backoff?: BackoffPolicy | undefined;
};

const PARALLEL_PARTS = 4;

/**
 * Uploads a file part by part, up to 4 at a time, and answers the ETag of each part, in the ticket's order.
 * Throws the first part's failure that cannot be mended (see put-part.ts), after stopping the others, and AppError
 * `node_failed` when the file is not as long as the ticket says. An abort rejects with the signal's reason.
 */
export async function uploadFile(upload: Upload): Promise<{ etags: string[]; sizeBytes: number }> {
  const { path, ticket, agent, signal, backoff } = upload;
  signal.throwIfAborted();
  const sizeBytes = await checkSize(path, ticket.parts);
  const report = progressOf(upload);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const etags: string[] = ticket.parts.map(() => "");
  const queue = ticket.parts.entries();
  const sendParts = async (): Promise<void> => {
    for (const [index, part] of queue) {
      either.throwIfAborted();
      const onProgress = (bytes: number): void => report(index, bytes);
      etags[index] = await putPart({ path, part, agent, signal: either, onProgress }, backoff);
    }
  };
  const senders = Array.from({ length: PARALLEL_PARTS }, sendParts);
  try {
    await Promise.all(senders);
    return { etags, sizeBytes };
  } finally {
    stop.abort();
    // The caller may remove the file as soon as this returns.
    await Promise.allSettled(senders);
  }
}

/** The file's size, which the parts must cover: a storage would take a wrong one without complaint. */
async function checkSize(path: string, parts: readonly UploadPart[]): Promise<number> {
  const planned = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  const actual = await stat(path).then(
    ({ size }) => size,
    () => null,
  );
  if (actual === planned) return planned;
  const found = actual === null ? "is gone" : `has ${actual} bytes where ${planned} were announced`;
  throw new AppError("node_failed", `A finished file ${found}.`);
}

/** Adds the parts up; a part that is sent again does not take the sum back. */
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
