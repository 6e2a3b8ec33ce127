// Types that a scripted node and its tasks share: the world of a run, and a lease in it.
import type { TaskStage } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Clock } from "./clock.ts";
import type { Wire } from "./fault-points.ts";
import type { Scenario } from "./scenarios.ts";

/** The faults of a step. At a step, a node is about to report on a lease. */
export const STEP_FAULTS = [
  "job evicted",
  "hub evicted",
  "sockets closed",
  "alarm lost",
  "alarm early",
  "alarm twice",
  "sent twice",
  "sent again",
  "late",
  "very late",
  "node dies",
] as const;
export type StepFault = (typeof STEP_FAULTS)[number];

export interface World {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly wire: Wire;
  readonly nodeToken: string;
  /** Unexpected errors of nodes. */
  readonly errors: unknown[];
  /** Counts a step of this name. Injects a fault of the control plane, or returns a fault of the node. */
  step(name: string): Promise<StepFault | null>;
  /** Cancels the job as its client does. */
  cancel(): Promise<void>;
}

/** The lease was revoked, or its node is dead. */
export class Dropped extends Error {}

export type ScriptedLease = {
  readonly assignment: Assignment;
  readonly world: World;
  /** Sends progress by the socket. It may be lost. */
  progress(stage: TaskStage, fraction: number): Promise<void>;
  /** Repeats a report until it is accepted. Throws Dropped. */
  post(verb: "uploads" | "scratch" | "outputs" | "complete" | "fail", body: object): Promise<unknown>;
};
