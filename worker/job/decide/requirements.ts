// Requirements of a job's tasks for a node, and the requirements that no node meets. Pure.
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { folderNeeds, needsOf, type TaskFolders } from "#shared/plan/tasks/needs.ts";
import type { Need } from "#shared/protocol/needs.ts";
import { type Requirements, signatureOf } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { activeWork, isChunkedTask } from "../chunks/chunk-work.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";

/** Requirements of a task for a node. */
export function requirementsOf(state: JobState, task: TaskState): Requirements {
  const { queue, require } = state.spec.settings;
  const needs = [...needsOfTask(state, task), ...folderNeeds(foldersOf(state, task))];
  return { pool: queue, labels: require, needs };
}

/** Groups the tasks by the signature of their requirements. */
export function bySignature(
  state: JobState,
  tasks: readonly TaskState[],
): Map<string, { requirements: Requirements; tasks: TaskState[] }> {
  const groups = new Map<string, { requirements: Requirements; tasks: TaskState[] }>();
  for (const task of tasks) {
    const requirements = requirementsOf(state, task);
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
  // Of the tasks of chunks, only `texts` recognizes speech.
  const isWithout = isChunkedTask(task) && task.kind !== "texts";
  return isWithout ? needs.filter(({ kind }) => kind !== "feature") : needs;
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

/** Notes the requirement of a class's tasks that no node meets; null: nodes meet all, or the tasks were claimed. */
export function waitsFor(state: JobState, slotClass: SlotClass, missing: string | null): JobState {
  const { [slotClass]: before = null, ...others } = state.waitingFor;
  if (before === missing) return state;
  return { ...state, waitingFor: { ...others, ...(missing === null ? {} : { [slotClass]: missing }) } };
}
