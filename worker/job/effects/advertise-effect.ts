// Advertises a job's runnable tasks to the hub.
import { hubOf, type SentOffer } from "../../rpc/hub.ts";
import { activeWork } from "../chunks/chunk-work.ts";
import { runnableTasks } from "../decide/leases.ts";
import { startOf } from "../decide/storage-check.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import type { EffectDeps, EffectOf } from "./effect.ts";
import { advertised } from "./job-effects.ts";

/** How long work waits for the node that has the source before any other node may take it. */
const PREFERENCE_MS = 2000;
/**
 * How long it waits for the node that has a part of the source and yielded to others; the node keeps the part for 30
 * minutes.
 */
const PARTIAL_PREFERENCE_MS = 10 * 60_000;
/** How long a node that failed or lost a task gets it only if no other node is connected. */
const AVOID_MS = 5 * 60_000;

export async function advertise({ slotClass }: EffectOf<"advertise">, deps: EffectDeps): Promise<void> {
  const now = deps.now();
  const state = deps.state();
  const tasks = runnableTasks(state, slotClass);
  await hubOf(deps.env).advertise([ticketOf(state, slotClass, tasks, now)]);
  // Noted after the call, so that it is repeated if the object dies. Tasks that were added during it are not advertised
  // yet.
  const known = new Set(tasks.map(attemptName));
  deps.note((before) => {
    const isKnown = runnableTasks(before, slotClass).every((task) => known.has(attemptName(task)));
    return isKnown ? advertised(before, slotClass, now) : before;
  });
}

const attemptName = ({ id, attempt }: TaskState): string => `${id}.${attempt}`;

function ticketOf(
  state: JobState,
  slotClass: SentOffer["slotClass"],
  tasks: readonly TaskState[],
  now: number,
): SentOffer {
  const yieldedAt = Math.min(...tasks.map((task) => task.yieldedAt));
  return {
    jobId: state.spec.id,
    accountId: state.spec.accountId,
    slotClass,
    count: tasks.filter((task) => startOf(state, task) <= now).length,
    since: Math.max(state.spec.createdAt, yieldedAt),
    // Chunks may go to any node.
    prefer: activeWork(state) ? null : state.sourceNode,
    preferUntil: Math.max(now + PREFERENCE_MS, yieldedAt > 0 ? yieldedAt + PARTIAL_PREFERENCE_MS : 0),
    // A node that only one task avoids may get the others.
    avoid: (tasks[0]?.avoid ?? []).filter((nodeId) => tasks.every((task) => task.avoid.includes(nodeId))),
    avoidUntil: Math.max(...tasks.map((task) => task.notBefore)) + AVOID_MS,
  };
}
