// The events that the matching takes, and what each of them leads to.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import type { Match } from "./choose.ts";
import type { StoredKind } from "./nodes/kinds.ts";
import type { Ticket } from "./waiting/tickets.ts";

export type Claimed = readonly { readonly lease: string; readonly slotClass: SlotClass }[];

export type MatchingEvent<Node> =
  /** A job advertises. */
  | { readonly kind: "advertise"; readonly offers: readonly TicketOffer[] }
  /** The job of a match was called for tasks; null: it was not reachable. */
  | { readonly kind: "claimed"; readonly match: Match<Node>; readonly claimed: Claimed | null }
  /** Nodes of the roster were added, changed or removed, or time has passed. */
  | { readonly kind: "look" };

/** What the hub stores. */
export type Write = readonly [key: string, value: Ticket | StoredKind | null];

export type Step<Node> = {
  /** Each to be claimed from its job: the slots are taken already. */
  readonly matches: readonly Match<Node>[];
  /** Nodes of the roster that have changed. */
  readonly changed: readonly Node[];
  readonly writes: readonly Write[];
  /** When to look again, in ms since 1970; null: only at the next event. */
  readonly wakeAt: number | null;
};

export const STORED_PREFIXES = { tickets: "ticket:", kinds: "profile:" } as const;
