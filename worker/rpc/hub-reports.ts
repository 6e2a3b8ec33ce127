// Reports of a hub about its nodes and its waiting work. Times in ms since 1970.
import type { Node, NodeDetails, NodeState, SlotUse } from "#shared/api/node-responses.ts";
import type { HardwareName } from "#shared/protocol/capabilities.ts";
import { TASK_OUTCOMES } from "#shared/protocol/frames.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";

/** `lostAt`: end of a connection whose node had not announced its end, and is still away; ms since 1970. */
export type NodeReport = { readonly node: Node; readonly lostAt: number | null };

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
  node(id: string): Promise<NodeDetails | null>;
  /** The work of a node in the last 24 hours. Null if the hub does not know the node. */
  history(id: string): Promise<NodeSteps | null>;
  /** Stops giving work to the node, or gives it work again. Null if the hub does not know the node. */
  cordon(id: string, isCordoned: boolean): Promise<NodeDetails | null>;
  /** Cordons the node, which ends when its tasks are done. Null if it is not connected to this hub. */
  drain(id: string): Promise<NodeDetails | null>;
  /** Removes a disconnected node from the list. Null if the node is connected or unknown. */
  forget(id: string): Promise<NodeDetails | null>;
  demand(): Promise<HubReport>;
}
