// A turn of the conversation between a hub and a job. A single call carries all messages of the hub for the job. During
// a turn, the hub collects messages for the next turn.
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { LeaseReport } from "#shared/protocol/reports.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";

/** A request of a node for work: up to `max` tasks of a class. */
export type ClaimRequest = {
  readonly nodeId: string;
  readonly session: string;
  readonly slotClass: SlotClass;
  /** Limits the claim to tasks with these requirements (`signatureOf`); absent: any task. */
  readonly signature?: string;
  readonly max: number;
  /** A claim repeated with the same id gets the same assignments: its answer was lost. */
  readonly requestId?: string;
};

/** A session whose connection the hub lost. */
export type LostSession = {
  readonly session: string;
  /** True if the node's process has ended and will not return. */
  readonly hasEnded: boolean;
};

/** Progress, and the time since the hub received it; absent: just now. */
export type SeenProgress = ProgressItem & { readonly ageMs?: number };

export type Turn = {
  /** Reports that nodes sent over their sockets. */
  readonly done?: readonly LeaseReport[];
  /** Leases whose nodes still work on them. */
  readonly alive: readonly LeaseProof[];
  /** May be lost. Also renews the leases that it names. */
  readonly progress: readonly SeenProgress[];
  readonly lost: readonly LostSession[];
  readonly want: readonly ClaimRequest[];
};

export type TurnAnswer = {
  /**
   * Results in the order of `done`: true if the job has stored the report; false if its lease is over; null if neither
   * is known, and then the node repeats the report by POST.
   */
  readonly acks: readonly (boolean | null)[];
  /** The job's account; null when nothing is kept of the job. */
  readonly accountId: string | null;
  /** Assignments in the order of `want`. */
  readonly assigned: readonly (readonly Assignment[])[];
  /** Leases of `alive` and `progress` that their nodes must drop. */
  readonly cancel: readonly LeaseId[];
  /**
   * End of the period in which somebody follows the job, in ms since 1970. Until then the hub sends progress at once.
   */
  readonly watchUntil: number;
};

export const EMPTY_TURN: Turn = { done: [], alive: [], progress: [], lost: [], want: [] };
