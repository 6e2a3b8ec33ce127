// Tickets: "job J has about k runnable tasks of class C". Advice, not truth: a claim is what the job decides.

import * as z from "zod";
import { SLOT_CLASSES } from "#shared/protocol/protocol.ts";

export const Ticket = z.object({
  jobId: z.string(),
  /** Whose job it is: accounts take turns. Tickets that are older than this member do not have it. */
  accountId: z.string().default(""),
  slotClass: z.enum(SLOT_CLASSES),
  count: z.int(),
  /**
   * When the job was created: of an account's the oldest comes first, however often it has to tell of itself. Times in ms
   * since 1970.
   */
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

const TICKETS = "ticket:";

/** The tickets on the hub's disk. One that cannot be read is as good as lost: its job advertises again. */
export function* loadTickets(kv: SyncKvStorage): Generator<Ticket> {
  for (const [key, value] of kv.list({ prefix: TICKETS })) {
    const ticket = Ticket.safeParse(value);
    if (ticket.success) yield ticket.data;
    else kv.delete(key);
  }
}

/** Writes what became of tickets; null stands for one that is gone. */
export function saveTickets(kv: SyncKvStorage, changes: Iterable<readonly [key: string, ticket: Ticket | null]>): void {
  for (const [key, ticket] of changes) {
    if (ticket) kv.put(TICKETS + key, ticket);
    else kv.delete(TICKETS + key);
  }
}
