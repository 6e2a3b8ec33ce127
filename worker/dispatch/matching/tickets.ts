// Tickets: a job has about `count` runnable tasks of a class. A hint: the job decides when a node claims.
import * as z from "zod";
import { TicketOffer } from "../../rpc/hub.ts";

export const Ticket = TicketOffer.extend({
  /** ms since 1970, like all times of a ticket. */
  advertisedAt: z.number(),
  /** A job that was not reachable is not called again before. */
  notBefore: z.number(),
});
export type Ticket = z.infer<typeof Ticket>;

/** Jobs advertise again every five minutes while they have demand; a ticket that is not renewed is removed. */
const TICKET_LIFE_MS = 15 * 60_000;

export const ticketKey = ({ jobId, slotClass }: Pick<Ticket, "jobId" | "slotClass">): string => `${jobId}:${slotClass}`;

export const isStale = (ticket: Ticket, now: number): boolean => now - ticket.advertisedAt > TICKET_LIFE_MS;

const TICKETS = "ticket:";

/** The tickets on the hub's disk. One that cannot be read is deleted: its job advertises again. */
export function* loadTickets(kv: SyncKvStorage): Generator<Ticket> {
  for (const [key, value] of kv.list({ prefix: TICKETS })) {
    const ticket = Ticket.safeParse(value);
    if (ticket.success) yield ticket.data;
    else kv.delete(key);
  }
}

/** Writes changed tickets; null deletes one. */
export function saveTickets(kv: SyncKvStorage, changes: Iterable<readonly [key: string, ticket: Ticket | null]>): void {
  for (const [key, ticket] of changes) {
    if (ticket) kv.put(TICKETS + key, ticket);
    else kv.delete(TICKETS + key);
  }
}
