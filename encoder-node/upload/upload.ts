// Executes upload tickets: signed requests for the ranges of one object. Knows no storage service.
import type { Dispatcher } from "undici";
import { AppError } from "#shared/errors.ts";
import type { UploadPart, UploadTicket } from "#shared/protocol.ts";
import type { Content } from "./content.ts";
import { type Patience, putPart } from "./put-part.ts";

export type Upload = {
  readonly content: Content;
  readonly ticket: Pick<UploadTicket, "parts">;
  /** One for all uploads, so that they share connections. */
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  /** Bytes of the whole handed to the network; never falls. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined;
  readonly patience?: Patience | undefined;
};

const PARALLEL_PARTS = 4;

/**
 * Uploads part by part, up to 4 at a time, and answers the ETag of each part, in the ticket's order.
 * Throws the first part's failure that cannot be mended (see put-part.ts), after stopping the others, and AppError
 * `node_failed` when the content is not as long as the ticket says. An abort rejects with the signal's reason.
 */
export async function uploadContent(upload: Upload): Promise<{ etags: string[]; sizeBytes: number }> {
  const { content, ticket, agent, signal, patience } = upload;
  signal.throwIfAborted();
  const sizeBytes = checkSize(content, ticket.parts);
  const report = progressOf(upload);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const etags: string[] = ticket.parts.map(() => "");
  const queue = ticket.parts.entries();
  const sendParts = async (): Promise<void> => {
    for (const [index, part] of queue) {
      either.throwIfAborted();
      const onProgress = (bytes: number): void => report(index, bytes);
      etags[index] = await putPart({ content, part, agent, signal: either, onProgress }, patience);
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

/** The size, which the parts must cover: a storage would take a wrong one without complaint. */
function checkSize({ sizeBytes }: Content, parts: readonly UploadPart[]): number {
  const planned = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  if (sizeBytes === planned) return planned;
  throw new AppError("node_failed", `A finished file has ${sizeBytes} bytes where ${planned} were announced.`);
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
