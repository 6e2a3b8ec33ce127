// GET /v2/autoscale: the amount of running and waiting work, for programs that add and remove machines.
import type { Context } from "hono";
import type { Autoscale } from "#shared/api/node-responses.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { QueueReport } from "../../rpc/hub-reports.ts";
import type { AdminEnv } from "../auth/auth.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { allPools, askHubs } from "./ask-hubs.ts";

export async function autoscale(context: Context<AdminEnv>): Promise<Response> {
  const pools = await allPools(context.env);
  // All hubs must answer: numbers that are too low would remove machines that have work.
  const reports = await askHubs(context.env, pools, (hub) => hub.demand());
  const queues = reports.flatMap((report) => report.queues);
  return jsonResponse(context, viewAutoscale(queues, pools) satisfies Autoscale);
}

/** The amount of running and waiting work of a class. */
type Demand = Autoscale["encode"];

/** `pools`: pools to name even if they have no work. A scaler then reads zeros instead of an error. */
export function viewAutoscale(queues: readonly QueueReport[], pools: readonly string[]): Autoscale {
  const names = [...new Set([...pools, ...queues.map(({ pool }) => pool)])].sort();
  const of = (pool: string) => demands(queues.filter((queue) => queue.pool === pool));
  return { ...demands(queues), pools: Object.fromEntries(names.map((pool) => [pool, of(pool)])) };
}

const demands = (queues: readonly QueueReport[]): Record<SlotClass, Demand> => ({
  encode: sum(queues.filter(({ slotClass }) => slotClass === "encode")),
  inspect: sum(queues.filter(({ slotClass }) => slotClass === "inspect")),
});

function sum(queues: readonly QueueReport[]): Demand {
  const total = (value: (queue: QueueReport) => number): number => queues.reduce((all, queue) => all + value(queue), 0);
  const [running, waiting, free] = [
    total((queue) => queue.running),
    total((queue) => queue.waiting),
    total((queue) => queue.free),
  ];
  const oldest = Math.max(0, ...queues.map(({ oldestWaitMs }) => oldestWaitMs));
  // Weighted by the work: a hub without work has no average time.
  const weight = total((queue) => queue.running + queue.waiting);
  const timed = total((queue) => queue.meanTaskMs * (queue.running + queue.waiting));
  const plain = queues.length === 0 ? 0 : total((queue) => queue.meanTaskMs) / queues.length;
  const mean = weight === 0 ? plain : timed / weight;
  return {
    wanted: running + waiting,
    running,
    waiting,
    free,
    oldest_wait_seconds: seconds(oldest),
    mean_task_seconds: seconds(mean),
  };
}

/** Seconds with one decimal. */
const seconds = (ms: number): number => Math.round(ms / 100) / 10;
