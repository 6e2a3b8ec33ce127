// Executes upload tickets: signed requests for the ranges of one object. Knows no storage service.
import type { Dispatcher } from "undici";
import { AppError } from "#shared/errors.ts";
import { StorageRefusal } from "#shared/network/storage-failure.ts";
import type { UploadPart, UploadTicket } from "#shared/protocol/protocol.ts";
import { renewable } from "../async/renewable.ts";
import type { Content } from "./content.ts";
import { type Patience, putPart } from "./put-part.ts";

export type Ticket = Pick<UploadTicket, "parts">;

export type Upload = {
  readonly content: Content;
  readonly ticket: Ticket;
  /** Gives a ticket for the same parts that is signed anew. */
  readonly renew: () => Promise<Ticket>;
  /** One for all uploads, so that they share connections. */
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  /** Bytes of the whole handed to the network; never falls. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined;
  readonly patience?: Partial<Patience> | undefined;
};

const PARALLEL_PARTS = 4;

/**
 * Uploads part by part, up to 4 at a time, and answers the ETag of each part, in the ticket's order. A signature that is
 * refused as an old one would be is asked for anew; the parts that are stored stay so.
 * Throws the first part's failure that cannot be mended (see put-part.ts), after stopping the others, and AppError
 * `node_failed` when the content is not as long as the ticket says. An abort rejects with the signal's reason.
 */
export async function uploadContent(upload: Upload): Promise<{ etags: string[]; sizeBytes: number }> {
  const { content, ticket, agent, signal, patience } = upload;
  const signed = renewable(ticket.parts, () => signedAnew(upload));
  signal.throwIfAborted();
  const sizeBytes = checkSize(content, ticket.parts);
  const report = progressOf(upload);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const etags: string[] = ticket.parts.map(() => "");
  const queue = ticket.parts.entries();
  const sendPart = async (index: number): Promise<string> => {
    const onProgress = (bytes: number): void => report(index, bytes);
    for (;;) {
      either.throwIfAborted();
      const used = signed.latest();
      const part = used.value[index];
      if (!part) throw new AppError("node_failed", `The ticket has no part ${index}`);
      try {
        const etag = await putPart({ content, part, agent, signal: either, onProgress }, patience);
        used.mayBeOld = true;
        return etag;
      } catch (error) {
        if (!(error instanceof StorageRefusal && error.mayBeExpired)) throw error;
        if (!(await signed.renewed(used, either))) throw error;
      }
    }
  };
  const sendParts = async (): Promise<void> => {
    for (const [index] of queue) etags[index] = await sendPart(index);
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

/** The parts of a fresh ticket, which must be the same. */
async function signedAnew({ ticket, renew }: Upload): Promise<readonly UploadPart[]> {
  const { parts } = await renew();
  if (!sameRanges(parts, ticket.parts)) throw new AppError("node_failed", "The control plane signed another upload");
  return parts;
}

const sameRanges = (parts: readonly UploadPart[], others: readonly UploadPart[]): boolean =>
  parts.length === others.length &&
  parts.every(({ offset, sizeBytes }, at) => offset === others[at]?.offset && sizeBytes === others[at]?.sizeBytes);

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
