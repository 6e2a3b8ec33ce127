// Tickets: "job J has about k runnable tasks of class C". Advice, not truth: a claim is what the job decides.

import * as z from "zod";
import { SLOT_CLASSES } from "#shared/protocol.ts";

export const Ticket = z.object({
  jobId: z.string(),
  slotClass: z.enum(SLOT_CLASSES),
  count: z.int(),
  /** The node that should have the work first (it holds the source), and those that should have it last. */
  prefer: z.string().nullable(),
  avoid: z.array(z.string()),
  /** From then on anybody may take it, in ms since 1970. */
  openAt: z.number(),
  advertisedAt: z.number(),
});
export type Ticket = z.infer<typeof Ticket>;
export type TicketOffer = Omit<Ticket, "advertisedAt">;

/** Jobs advertise again every minute while they have demand; a ticket that was not renewed is forgotten. */
const TICKET_LIFE_MS = 3 * 60_000;

export const ticketKey = ({ jobId, slotClass }: Pick<Ticket, "jobId" | "slotClass">): string => `${jobId}:${slotClass}`;

export const isStale = (ticket: Ticket, now: number): boolean => now - ticket.advertisedAt > TICKET_LIFE_MS;
