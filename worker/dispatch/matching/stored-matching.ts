// What the hub stores of its matching: tickets, and the profiles of nodes that were seen.
import * as z from "zod";
import { Profile } from "#shared/protocol/requirements.ts";
import type { StoredKind } from "./nodes/kinds.ts";
import { STORED_PREFIXES, type Write } from "./steps.ts";
import { Ticket, ticketKey } from "./waiting/tickets.ts";

const StoredKindRow = z.object({ profile: Profile, isConnected: z.boolean(), seenAt: z.number() });

/** Reads all of it. What cannot be read is deleted: jobs advertise again, and nodes connect again. */
export function loadMatching(kv: SyncKvStorage): { tickets: Ticket[]; kinds: StoredKind[] } {
  const tickets = load(kv, STORED_PREFIXES.tickets, Ticket);
  for (const { key, value } of tickets) {
    // Keys of the previous release do not name the requirements.
    const named = STORED_PREFIXES.tickets + ticketKey(value);
    if (key === named) continue;
    kv.delete(key);
    kv.put(named, value);
  }
  const kinds = load(kv, STORED_PREFIXES.kinds, StoredKindRow);
  return { tickets: tickets.map(({ value }) => value), kinds: kinds.map(({ value }) => value) };
}

function load<Value>(kv: SyncKvStorage, prefix: string, schema: z.ZodType<Value>): { key: string; value: Value }[] {
  return [...kv.list({ prefix })].flatMap(([key, stored]) => {
    const parsed = schema.safeParse(stored);
    if (parsed.success) return [{ key, value: parsed.data }];
    kv.delete(key);
    return [];
  });
}

export function saveMatching(kv: SyncKvStorage, writes: readonly Write[]): void {
  for (const [key, value] of writes) {
    if (value) kv.put(key, value);
    else kv.delete(key);
  }
}
