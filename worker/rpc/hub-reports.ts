// What a hub reports of its nodes and of the work that waits. Times in ms since 1970.
import type { NodeState } from "#shared/api/node-responses.ts";
import type { Capabilities, HardwareName } from "#shared/protocol/capabilities.ts";
import { type NodeDisk, TASK_OUTCOMES } from "#shared/protocol/frames.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";

/** The slots of a class: those that wait for work, and those with a task. */
export type SlotUse = { readonly free: number; readonly running: number };

export type NodeReport = {
  readonly id: string;
  /** The name of its hub. */
  readonly hub: string;
  readonly state: NodeState;
  /** Why it cannot work, as it states. */
  readonly notReady: readonly string[];
  readonly pool: string;
  readonly labels: readonly string[];
  readonly region: string | null;
  readonly spot: boolean;
  /** Null for what the node has not reported, or if it is offline. */
  readonly host: string | null;
  readonly version: string | null;
  readonly protocol: number | null;
  readonly ffmpeg: string | null;
  readonly cpus: number | null;
  readonly hardware: HardwareName | null;
  readonly disk: NodeDisk | null;
  readonly slots: Readonly<Record<SlotClass, SlotUse>>;
  readonly leases: number;
  /** The share of its last ten jobs that failed by its fault, 0 to 1. */
  readonly score: number;
  readonly connectedAt: number | null;
  /** When its connection ended, and the first of the leases that it had then; null and none while it is connected. */
  readonly lastSeenAt: number | null;
  readonly lostLeases: readonly string[];
};

export type NodeDetail = NodeReport & {
  readonly running: readonly { readonly lease: string; readonly slotClass: SlotClass }[];
  readonly capabilities: Capabilities | null;
};

/** The work of one pool and class at one hub. */
export type QueueReport = SlotUse & {
  readonly pool: string;
  readonly slotClass: SlotClass;
  /** Tasks that wait for a node. */
  readonly waiting: number;
  /** How long the oldest of them has waited; 0 when none waits. */
  readonly oldestWaitMs: number;
  /** The average time of a task. */
  readonly meanTaskMs: number;
};

/** Where a waiting job stands. */
export type Place = {
  /** How many jobs come before it. */
  readonly ahead: number;
  /** About when a node begins it; null: the pool has no nodes that take work. */
  readonly seconds: number | null;
};

/**
 * How a task left its node: as the node states it; `released` by a node that does not; `lost` with the connection of
 * its node.
 */
export const ENDS_OF_TASKS = [...TASK_OUTCOMES, "released", "lost"] as const;
export type EndOfTask = (typeof ENDS_OF_TASKS)[number];

/** The tasks of a kind that have left their nodes since the hub began to count. */
export type TaskReport = {
  readonly kind: string;
  readonly outcomes: Readonly<Record<EndOfTask, number>>;
  /** Second and later attempts that nodes have got. */
  readonly retries: number;
  /** Their times: the number of those within each bound of DURATION_BOUNDS_S, and of all; and the sum. */
  readonly within: readonly number[];
  readonly timed: number;
  readonly sumSeconds: number;
};

/** The bounds of the histogram of task times: from a probe to a night. */
export const DURATION_BOUNDS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200] as const;

export type HubReport = {
  readonly nodes: readonly {
    readonly pool: string;
    readonly state: NodeState;
    readonly hardware: HardwareName | null;
    readonly count: number;
  }[];
  readonly queues: readonly QueueReport[];
  readonly tasks: readonly TaskReport[];
};

/** The operator's calls of a hub. */
export interface HubReports {
  nodes(): Promise<NodeReport[]>;
  /** Null if the hub does not know the node. */
  node(id: string): Promise<NodeDetail | null>;
  /** The node gets no more work, or gets work again; null if the hub does not know it. */
  cordon(id: string, isCordoned: boolean): Promise<NodeDetail | null>;
  /** Cordons the node, which ends when its tasks are done; null if it is not connected to this hub. */
  drain(id: string): Promise<NodeDetail | null>;
  /** Removes a node that is not connected from the list; null if it is connected, or not known. */
  forget(id: string): Promise<NodeDetail | null>;
  demand(): Promise<HubReport>;
}
