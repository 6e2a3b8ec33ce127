// Tickets: a job has about `count` runnable tasks of a class with the same requirements. The count is a hint: the job
// decides when a node claims.
import * as z from "zod";
import { signatureOf } from "#shared/protocol/requirements.ts";
import { TicketOffer } from "../../../rpc/hub.ts";

export const Ticket = TicketOffer.extend({
  /** ms since 1970, like all times of a ticket. */
  advertisedAt: z.number(),
  /** The job is not called before this time, because it was not reachable. */
  notBefore: z.number(),
  /** Start of the wait of this ticket's tasks. */
  waitingSince: z.number(),
  /** True if `count` was stored when the job first advertised, and may be out of date. */
  isCountOld: z.boolean(),
});
export type Ticket = z.infer<typeof Ticket>;

/** Jobs with runnable tasks advertise again at least every hour. A ticket that is not renewed is removed. */
const TICKET_LIFE_MS = 150 * 60_000;

/** Unique by job, class and requirements. */
export const ticketKey = ({ jobId, slotClass, requirements }: Pick<Ticket, "jobId" | "slotClass" | "requirements">) =>
  `${jobId}:${slotClass}:${fingerprint(signatureOf(requirements))}`;

export const isStale = (ticket: Ticket, now: number): boolean => now - ticket.advertisedAt > TICKET_LIFE_MS;

/** 53 bits of a text (two FNV-1a hashes with different primes), short enough for the key of a row. */
export function fingerprint(text: string): string {
  let [low, high] = [0x811c9dc5, 0x9e3779b9];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
  }
  low = Math.imul(low ^ (high >>> 15), 0x85ebca6b) >>> 0;
  high = Math.imul(high ^ (low >>> 13), 0xc2b2ae35) >>> 0;
  return (low * 2 ** 21 + (high >>> 11)).toString(36);
}
