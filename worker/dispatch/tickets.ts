// Tickets: "job J has about k runnable tasks of class C". Advice, not truth: a claim is what the job decides.

import * as z from "zod";
import { SLOT_CLASSES } from "#shared/protocol.ts";

export const Ticket = z.object({
  jobId: z.string(),
  slotClass: z.enum(SLOT_CLASSES),
  count: z.int(),
  /** When the job was created: the oldest comes first, however often it has to tell of itself. Times in ms since 1970. */
  since: z.number(),
  /** The node that should have the work first, because it holds the source; until then others leave it to that. */
  prefer: z.string().nullable(),
  preferUntil: z.number(),
  /** Nodes that failed or lost the work; until then they are passed by while others are connected. */
  avoid: z.array(z.string()),
  avoidUntil: z.number(),
  advertisedAt: z.number(),
  /** A job that could not be asked is left alone until then. */
  notBefore: z.number(),
});
export type Ticket = z.infer<typeof Ticket>;
export type TicketOffer = Omit<Ticket, "advertisedAt" | "notBefore">;

/** Jobs advertise again every five minutes while they have demand; a ticket that was not renewed is forgotten. */
const TICKET_LIFE_MS = 15 * 60_000;

export const ticketKey = ({ jobId, slotClass }: Pick<Ticket, "jobId" | "slotClass">): string => `${jobId}:${slotClass}`;

export const isStale = (ticket: Ticket, now: number): boolean => now - ticket.advertisedAt > TICKET_LIFE_MS;
