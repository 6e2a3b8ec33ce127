// Reports of a hub about its nodes and its waiting work. Times in ms since 1970.
import type { NodeState } from "#shared/api/node-responses.ts";
import type { Capabilities, HardwareName } from "#shared/protocol/capabilities.ts";
import { type NodeDisk, TASK_OUTCOMES } from "#shared/protocol/frames.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";

/** The slots of a class: free slots, and slots with a task. */
export type SlotUse = { readonly free: number; readonly running: number };

export type NodeReport = {
  readonly id: string;
  /** The name of the node's hub. */
  readonly hub: string;
  readonly state: NodeState;
  /** Reasons why the node cannot work, as the node states them. */
  readonly notReady: readonly string[];
  readonly pool: string;
  readonly labels: readonly string[];
  readonly region: string | null;
  readonly spot: boolean;
  /** Null if the node has not reported the value, or if it is offline. */
  readonly host: string | null;
  readonly version: string | null;
  readonly protocol: number | null;
  readonly ffmpeg: string | null;
  readonly cpus: number | null;
  readonly hardware: HardwareName | null;
  readonly disk: NodeDisk | null;
  readonly slots: Readonly<Record<SlotClass, SlotUse>>;
  readonly leases: number;
  /** Share of the node's last ten jobs that failed through its own fault, 0 to 1. */
  readonly score: number;
  readonly connectedAt: number | null;
  /** End of its connection, and the first leases that it had then. Null and empty while the node is connected. */
  readonly lastSeenAt: number | null;
  readonly lostLeases: readonly string[];
  /** True if its connection ended after the node had announced its end. */
  readonly isStopped: boolean;
};

export type NodeDetail = NodeReport & {
  readonly running: readonly { readonly lease: string; readonly slotClass: SlotClass }[];
  readonly capabilities: Capabilities | null;
};

/** The length of a step in a node's history. */
export const STEP_MS = 15 * 60_000;

/** The work of a node in a step from `at` on: busy encode slots, and seconds of sources for each second, on average. */
export type NodeStep = { readonly at: number; readonly busy: number; readonly speed: number };
export type NodeSteps = { readonly isConnected: boolean; readonly steps: readonly NodeStep[] };

/** The work of one pool and class at one hub. */
export type QueueReport = SlotUse & {
  readonly pool: string;
  readonly slotClass: SlotClass;
  /** Tasks that wait for a node. */
  readonly waiting: number;
  /** Waiting time of the task that has waited longest; 0 when no task waits. */
  readonly oldestWaitMs: number;
  /** Average time of a task. */
  readonly meanTaskMs: number;
};

/** The place of a waiting job in the queue. */
export type Place = {
  /** Number of jobs before this job. */
  readonly ahead: number;
  /** Estimated seconds until a node starts the job; null: the pool has no nodes that take work. */
  readonly seconds: number | null;
};

/**
 * The end of a task on its node. Nodes state it. `released`: the node stated nothing. `lost`: the node's connection
 * ended.
 */
export const ENDS_OF_TASKS = [...TASK_OUTCOMES, "released", "lost"] as const;
export type EndOfTask = (typeof ENDS_OF_TASKS)[number];

/** Tasks of a kind that have left their nodes since the hub started to count. */
export type TaskReport = {
  readonly kind: string;
  readonly outcomes: Readonly<Record<EndOfTask, number>>;
  /** Second and later attempts that nodes have received. */
  readonly retries: number;
  /** Times of the tasks: the number within each bound of DURATION_BOUNDS_S, the number in total, and the sum. */
  readonly within: readonly number[];
  readonly timed: number;
  readonly sumSeconds: number;
};

/** Bounds of the histogram of task times in seconds, from a probe to a night. */
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
  /** Fonts of connected nodes, sorted. */
  readonly fonts: readonly string[];
};

/** The operator's calls of a hub. */
export interface HubReports {
  nodes(): Promise<NodeReport[]>;
  /** Null if the hub does not know the node. */
  node(id: string): Promise<NodeDetail | null>;
  /** The work of a node in the last 24 hours. Null if the hub does not know the node. */
  history(id: string): Promise<NodeSteps | null>;
  /** Stops giving work to the node, or gives it work again. Null if the hub does not know the node. */
  cordon(id: string, isCordoned: boolean): Promise<NodeDetail | null>;
  /** Cordons the node, which ends when its tasks are done. Null if it is not connected to this hub. */
  drain(id: string): Promise<NodeDetail | null>;
  /** Removes a disconnected node from the list. Null if the node is connected or unknown. */
  forget(id: string): Promise<NodeDetail | null>;
  demand(): Promise<HubReport>;
}
