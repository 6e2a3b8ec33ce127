// The events of the matching, and the result of each event.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import type { Match } from "./choose.ts";
import type { StoredProfile } from "./nodes/node-profiles.ts";
import type { Ticket } from "./waiting/tickets.ts";

export type Claimed = readonly { readonly lease: string; readonly slotClass: SlotClass }[];

export type MatchingEvent<Node> =
  /** A job advertises. */
  | { readonly kind: "advertise"; readonly offers: readonly TicketOffer[] }
  /** The job of a match was called for tasks; `claimed` is null if the job was not reachable. */
  | { readonly kind: "claimed"; readonly match: Match<Node>; readonly claimed: Claimed | null }
  /** Nodes of the roster were added, changed or removed, or time has passed. */
  | { readonly kind: "look" };

/** A row that the hub stores; null deletes it. */
export type Write = readonly [key: string, value: Ticket | StoredProfile | null];

export type Step<Node> = {
  /** Matches to claim from their jobs. Their slots are already taken. */
  readonly matches: readonly Match<Node>[];
  /** Nodes of the roster that have changed. */
  readonly changed: readonly Node[];
  readonly writes: readonly Write[];
  /** Time of the next look, in ms since 1970; null: only at the next event. */
  readonly wakeAt: number | null;
};

export const STORED_PREFIXES = { tickets: "ticket:", profiles: "profile:" } as const;
