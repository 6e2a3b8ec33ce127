// Requirements of a job's tasks for a node, and the time that the tasks have waited for a node. Pure.
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { folderNeeds, needsOf, type TaskFolders } from "#shared/plan/tasks/needs.ts";
import type { Need } from "#shared/protocol/needs.ts";
import { type Requirements, signatureOf } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { nextHopMs, type Placement, placementAt } from "#shared/request/settings-section.ts";
import { activeWork, isChunkedTask } from "../chunks/chunk-work.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";

/** Where the tasks of a class may run now, and their priority. Hops count from the start of their wait for a claim. */
export function placementOf({ spec, waiting }: JobState, slotClass: SlotClass, now: number): Placement {
  return placementAt(spec.settings, now - (waiting[slotClass]?.since ?? now));
}

/** Time of the next change of a class's placement, ms since 1970; null: never. */
export function nextHopAt({ spec, waiting }: JobState, slotClass: SlotClass, after: number): number | null {
  const since = waiting[slotClass]?.since;
  const hopMs = since === undefined ? null : nextHopMs(spec.settings, after - since);
  return since === undefined || hopMs === null ? null : since + hopMs;
}

/** Requirements of a task for a node. */
export function requirementsOf(state: JobState, task: TaskState, { queue, require }: Placement): Requirements {
  const needs = [...needsOfTask(state, task), ...folderNeeds(foldersOf(state, task))];
  return { pool: queue, labels: require, needs };
}

/** Groups the tasks by the signature of their requirements. */
export function bySignature(
  state: JobState,
  tasks: readonly TaskState[],
  placement: Placement,
): Map<string, { requirements: Requirements; tasks: TaskState[] }> {
  const groups = new Map<string, { requirements: Requirements; tasks: TaskState[] }>();
  for (const task of tasks) {
    const requirements = requirementsOf(state, task, placement);
    const signature = signatureOf(requirements);
    const group = groups.get(signature) ?? { requirements, tasks: [] };
    group.tasks.push(task);
    groups.set(signature, group);
  }
  return groups;
}

/** A task of kind `join` reads no source. `encode` and `join` store outputs, and `inspect` checks the folder. */
function foldersOf({ spec: { input, storage } }: JobState, { kind }: TaskState): TaskFolders {
  const stores = kind === "encode" || kind === "join" || kind === "inspect";
  return {
    reads: input.kind === "folder" && kind !== "join" ? input.folder : null,
    writes: storage.kind === "folder" && stores ? storage.folder : null,
  };
}

function needsOfTask(state: JobState, task: TaskState): readonly Need[] {
  const { outputs: specs } = state.spec;
  const outputs = outputsOf(state, task);
  const probe = task.kind === "inspect" ? null : state.input.probe;
  const known = KNOWN.get(probe ?? specs) ?? new Map<string, readonly Need[]>();
  KNOWN.set(probe ?? specs, known);
  const key = outputs.join();
  const needs =
    known.get(key) ??
    needsOf(
      specs.filter(({ index }) => outputs.includes(index)),
      probe,
    );
  known.set(key, needs);
  return needs;
}

/**
 * The outputs whose needs a task has. A source is fetched where its outputs will be made, as far as they are certain;
 * chunks read it from anywhere. Each chunk has the needs of all outputs of chunks: then all tasks of a video require
 * the same.
 */
function outputsOf(state: JobState, task: TaskState): readonly number[] {
  const { outputs, settings } = state.spec;
  if (task.kind !== "inspect") return (isChunkedTask(task) ? activeWork(state)?.outputs : null) ?? task.outputs;
  const certain = outputs.filter(
    ({ index, condition }) => condition === null && state.outputs[index]?.phase === "waiting",
  );
  return settings.ultrafast ? [] : certain.map(({ index }) => index);
}

/** The needs of outputs, by the probe of their source or by the outputs alone: all claims of a job ask for them. */
const KNOWN = new WeakMap<MediaProbe | JobState["spec"]["outputs"], Map<string, readonly Need[]>>();

/** Notes since when the advertised tasks of a class have waited, and the requirement that no node meets. */
export function waitsFor(state: JobState, slotClass: SlotClass, missing: string | null, now: number): JobState {
  const known = state.waiting[slotClass];
  if (known && known.for === missing) return state;
  return { ...state, waiting: { ...state.waiting, [slotClass]: { since: known?.since ?? now, for: missing } } };
}

/** Notes that tasks of a class were claimed: a node meets their requirements. */
export function waitsNoLonger(state: JobState, slotClass: SlotClass): JobState {
  if (!state.waiting[slotClass]) return state;
  const { [slotClass]: _ended, ...waiting } = state.waiting;
  return { ...state, waiting };
}
