// The effects of a job: its pending work outside its object.
import type { LeaseId } from "#shared/ids.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Env } from "../../bindings.ts";
import type { Delivery } from "../../notify/delivery.ts";
import type { KeptMetadata } from "../persistence/kept-metadata.ts";
import type { JobState, MultipartUpload } from "../state/job-state.ts";
import type { MadeReport } from "../state/remaining-outputs.ts";
import type { TaskState } from "../state/task-state.ts";

export type Effect =
  /** Advertise the number of runnable tasks of a class to the hub. */
  | { kind: "advertise"; slotClass: SlotClass }
  /** Check whether the storage accepts files, before anything is encoded. */
  | { kind: "check-storage" }
  /** Complete the multipart uploads of an output that a node has made. */
  | { kind: "complete-uploads"; task: TaskState; report: MadeReport }
  /** Ask the hubs of leases whether nodes have these leases. */
  | { kind: "confirm-leases" }
  /** Notify the nodes whose leases ended while they worked. */
  | { kind: "revoke"; leases: LeaseId[] }
  | { kind: "abort-upload"; upload: MultipartUpload }
  /** Update the job's row in the index. */
  | { kind: "index" }
  /** Send events to the stream of the account. */
  | { kind: "emit" }
  /** Send a notification. */
  | { kind: "deliver"; delivery: Delivery }
  /** Remove the job's objects from the service's own storage. */
  | { kind: "clear-storage" }
  /** Remove a folder of the job in the scratch bucket. */
  | { kind: "clear-scratch"; folder: number }
  /** Delete the job's state: its retention is over. */
  | { kind: "purge" };

export type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

/**
 * An effect with its due time (ms since 1970) and a name that is unique within the job. `isNews`: nobody waits for it.
 */
export type PendingEffect = {
  readonly name: string;
  readonly dueAt: number;
  readonly effect: Effect;
  readonly isNews?: boolean;
};

export interface EffectDeps {
  readonly env: Env;
  state(): JobState;
  /** Changes the current state, which may have changed while the effect waited. */
  apply(change: (state: JobState) => JobState): void;
  /** Like `apply`, but the change may be lost with the object: then the effect is only repeated. */
  note(change: (state: JobState) => JobState): void;
  now(): number;
  /** Deletes the state, except the metadata to keep. */
  purge(kept: KeptMetadata | null): Promise<void>;
}
