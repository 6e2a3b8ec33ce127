// A turn of the conversation between a hub and a job: all that the hub has for the job, in one call. While one is under
// way, the hub collects what arrives for the next one.
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { LeaseReport } from "#shared/protocol/reports.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";

/** A node that requests work: up to `max` tasks of a class. */
export type ClaimRequest = {
  /** The hub's name; absent: the first hub. */
  readonly hub?: string;
  readonly nodeId: string;
  readonly session: string;
  /** What the node can do that others cannot (NODE_FEATURES); absent: nothing. */
  readonly features?: readonly string[];
  readonly slotClass: SlotClass;
  /** Only tasks with these requirements (`signatureOf`); absent: any. */
  readonly signature?: string;
  readonly max: number;
  /** A claim that is repeated with the same id, because its answer was lost, gets the same assignments. */
  readonly requestId?: string;
};

/** The hub lost the connection of a node's session. */
export type LostSession = {
  readonly session: string;
  /** True if the node's process has ended: it will not return. */
  readonly hasEnded: boolean;
};

export type Turn = {
  /** Reports of nodes that came by their sockets. */
  readonly done?: readonly LeaseReport[];
  /** Leases that their nodes still work on. */
  readonly alive: readonly LeaseProof[];
  /** May be lost; also renews the leases that it names. */
  readonly progress: readonly ProgressItem[];
  readonly lost: readonly LostSession[];
  readonly want: readonly ClaimRequest[];
};

export type TurnAnswer = {
  /**
   * In the order of `done`: whether the job has stored it, or its lease is over; null: neither is known, and the node
   * repeats it by POST.
   */
  readonly acks: readonly (boolean | null)[];
  /** The job's account; null when nothing is kept of the job. */
  readonly accountId: string | null;
  /** In the order of `want`. */
  readonly assigned: readonly (readonly Assignment[])[];
  /** Leases of `alive` and `progress` that their nodes must drop. */
  readonly cancel: readonly LeaseId[];
  /** Until when somebody follows the job, ms since 1970: until then the hub sends progress at once. */
  readonly watchUntil: number;
};

export const EMPTY_TURN: Turn = { done: [], alive: [], progress: [], lost: [], want: [] };
