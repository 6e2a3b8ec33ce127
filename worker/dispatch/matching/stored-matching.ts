// Stores the state of the matching: tickets, and the profiles of seen nodes.
import type * as z from "zod";
import { StoredProfile } from "./nodes/node-profiles.ts";
import { Ticket } from "./waiting/tickets.ts";

/** A row that the hub stores; null deletes it. */
export type Write = readonly [key: string, value: Ticket | StoredProfile | null];

export const STORED_PREFIXES = { tickets: "ticket:", profiles: "profile:" } as const;

/** Reads the stored state. Rows that cannot be read are deleted: jobs advertise again, and nodes connect again. */
export function loadMatching(kv: SyncKvStorage): { tickets: Ticket[]; profiles: StoredProfile[] } {
  return {
    tickets: load(kv, STORED_PREFIXES.tickets, Ticket),
    profiles: load(kv, STORED_PREFIXES.profiles, StoredProfile),
  };
}

function load<Value>(kv: SyncKvStorage, prefix: string, schema: z.ZodType<Value>): Value[] {
  return [...kv.list({ prefix })].flatMap(([key, stored]) => {
    const parsed = schema.safeParse(stored);
    if (parsed.success) return [parsed.data];
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
