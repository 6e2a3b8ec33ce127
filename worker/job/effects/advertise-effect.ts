// Advertises a job's runnable tasks to the hub.
import { messageOf } from "#shared/log.ts";
import { DEFAULT_POOL } from "#shared/placement.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { noteWaitingPool } from "../../db/node-pools.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { hubOf, PREFERENCE_MS, type TicketOffer } from "../../rpc/hub.ts";
import { activeWork } from "../chunks/chunk-work.ts";
import { runnableTasks } from "../decide/leases.ts";
import { bySignature, waitsFor } from "../decide/requirements.ts";
import { startOf } from "../decide/storage-check.ts";
import { bumpVersion } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import type { EffectDeps, EffectOf } from "./effect.ts";
import { advertised } from "./job-effects.ts";

/** Time for which a node that failed or lost a task gets the task only if no other node is connected. */
const AVOID_MS = 5 * 60_000;
/** Number of losses after which a task goes to machines that stay. */
const STEADY_AFTER = 2;

export async function advertise({ slotClass }: EffectOf<"advertise">, deps: EffectDeps): Promise<void> {
  const now = deps.now();
  const state = deps.state();
  const tasks = runnableTasks(state, slotClass);
  const offers = offersOf(state, slotClass, tasks, now);
  const pool = state.spec.settings.queue;
  const { waitingFor } = await withDeadline("advertise", hubOf(deps.env, pool).advertise(offers));
  noteWaiting(slotClass, waitingFor ?? roomFor(tasks), deps);
  if (waitingFor !== null && pool !== DEFAULT_POOL) {
    const cause = (error: unknown) => log.warn("waiting pool not noted", { pool, error: messageOf(error) });
    await noteWaitingPool(deps.env.DB, pool, now).catch(cause);
  }
  // Noted after the call, so that the call is repeated if the object dies. Tasks that were added during the call, and a
  // changed priority, are not advertised yet.
  const known = new Set(tasks.map(attemptName));
  deps.note((before) => {
    const isSame = before.spec.settings === state.spec.settings;
    const areKnown = runnableTasks(before, slotClass).every((task) => known.has(attemptName(task)));
    return isSame && areKnown ? advertised(before, slotClass, now) : before;
  });
}

/** Notes the missing requirement, unless all tasks were claimed during the call. */
function noteWaiting(slotClass: SlotClass, missing: string | null, deps: EffectDeps): void {
  const state = deps.state();
  const next = waitsFor(state, slotClass, missing);
  if (next !== state && runnableTasks(state, slotClass).length > 0) deps.apply(() => bumpVersion(next));
}

/** The room that nodes lack for the tasks; null if none has reported this. */
function roomFor(tasks: readonly TaskState[]): string | null {
  const refused = tasks.find((task) => task.refused)?.refused;
  return refused ? `a node with room. ${refused.reason}` : null;
}

const attemptName = ({ id, attempt }: TaskState): string => `${id}.${attempt}`;

/** An offer for each different set of requirements of the tasks. */
export function offersOf(
  state: JobState,
  slotClass: SlotClass,
  tasks: readonly TaskState[],
  now: number,
): TicketOffer[] {
  const { id: jobId, accountId, share, settings } = state.spec;
  const job = { jobId, accountId, ...share, slotClass, priority: settings.priority };
  return [...bySignature(state, tasks).values()].map(({ requirements, tasks: own }) => ({
    ...job,
    requirements,
    ...offerOf(state, own, now),
  }));
}

function offerOf(state: JobState, tasks: readonly TaskState[], now: number) {
  return {
    count: tasks.filter((task) => startOf(state, task) <= now).length,
    since: state.spec.createdAt,
    // Chunks may go to any node.
    prefer: activeWork(state) ? null : state.sourceNode,
    preferUntil: now + PREFERENCE_MS,
    // A node is avoided only if all tasks avoid it.
    avoid: (tasks[0]?.avoid ?? []).filter((nodeId) => tasks.every((task) => task.avoid.includes(nodeId))),
    avoidUntil: Math.max(...tasks.map((task) => task.notBefore)) + AVOID_MS,
    blamed: [...new Set(tasks.flatMap((task) => task.blamed))],
    steady: tasks.some(({ losses }) => losses >= STEADY_AFTER),
  };
}
