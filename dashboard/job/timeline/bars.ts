// The attempts of a job's tasks as bars: node, work, start, end and outcome. Pure.
import type { Attempt, Command, Task } from "../../../client/index.ts";
import { attemptKey, type Stage, type StageStart, type TaskBook } from "../live/task-book.ts";

export type BarState = "running" | Attempt["outcome"];

/** A part of a bar with a single stage of work. `toMs` null: it continues. */
export type BarPart = { readonly stage: Stage; readonly fromMs: number; readonly toMs: number | null };

export type Bar = {
  /** Unique in the job. */
  readonly key: string;
  readonly task: string;
  readonly attempt: number;
  readonly kind: Task["kind"];
  readonly node: string;
  readonly fromMs: number;
  /** null: the attempt runs. */
  readonly toMs: number | null;
  readonly state: BarState;
  /** In the order of time, without gaps; empty if the stages are unknown. */
  readonly parts: readonly BarPart[];
  /** A second attempt of a slow chunk on another node. */
  readonly isSpeculative: boolean;
  /** True if the attempt belongs to an earlier start of the job. */
  readonly isEarlier: boolean;
  readonly chunk: Task["chunk"];
  readonly outputs: readonly string[];
  /** The reason why the attempt did not complete. */
  readonly reason: string | undefined;
  /** Progress of the present stage, 0 to 1. */
  readonly progress: number;
  readonly fps: number | undefined;
  readonly speed: number | undefined;
};

/** Runs of ffmpeg by `attemptKey`. */
export type Runs = ReadonlyMap<string, readonly Command[]>;

export function runsOf(commands: readonly Command[]): Runs {
  const runs = new Map<string, Command[]>();
  for (const command of commands) {
    const key = attemptKey(command.task, command.attempt);
    runs.set(key, [...(runs.get(key) ?? []), command]);
  }
  return runs;
}

const SPECULATIVE = /-speculative$/;

/** All bars, sorted by their start. */
export function barsOf({ tasks, attempts, stages }: TaskBook, runs: Runs = new Map()): Bar[] {
  const bars = new Map<string, Bar>();
  for (const task of tasks.values()) {
    const key = attemptKey(task.id, task.attempt);
    const bar = memoized(taskBars, task, [stages.get(key), runs.get(key)], () => barOfTask(task, stages, runs));
    if (bar) bars.set(bar.key, bar);
  }
  for (const attempt of attempts) {
    const key = attemptKey(attempt.task, attempt.attempt);
    const current = bars.get(key);
    // A restarted task is in both lists.
    if (current?.state === "running") continue;
    const task = current ? undefined : taskOf(attempt, tasks);
    const bar = memoized(attemptBars, attempt, [stages.get(key), runs.get(key), current, task], () =>
      endedBar(attempt, current ?? barOfAttempt(attempt, task), stages, runs),
    );
    if (bar) bars.set(key, bar);
  }
  return [...bars.values()].sort((a, b) => a.fromMs - b.fromMs || (a.key < b.key ? -1 : 1));
}

type Memo = { readonly inputs: readonly unknown[]; readonly bar: Bar | undefined };
const taskBars = new WeakMap<object, Memo>();
const attemptBars = new WeakMap<object, Memo>();

/** Returns the previous bar while none of its inputs has changed, so that it is not drawn again. */
function memoized(all: WeakMap<object, Memo>, of: object, inputs: readonly unknown[], make: () => Bar | undefined) {
  const last = all.get(of);
  if (last && inputs.every((input, at) => input === last.inputs[at])) return last.bar;
  const bar = make();
  all.set(of, { inputs, bar });
  return bar;
}

function endedBar(attempt: Attempt, base: Bar, stages: TaskBook["stages"], runs: Runs): Bar {
  const [fromMs, toMs] = [Date.parse(attempt.started_at), Date.parse(attempt.ended_at)];
  const parts = partsOf(base.key, fromMs, toMs, stages, runs);
  return { ...base, fromMs, toMs, state: attempt.outcome, reason: attempt.reason, parts };
}

/** The last attempt of a task; undefined if no node has taken the task. */
function barOfTask(task: Task, stages: TaskBook["stages"], runs: Runs): Bar | undefined {
  const { id, attempt, kind, node, started_at, ended_at, status, chunk, outputs, progress, fps, speed } = task;
  if (node === undefined || started_at === undefined || status === "waiting") return undefined;
  const fromMs = Date.parse(started_at);
  const toMs = status === "running" ? null : ended_at === undefined ? fromMs : Date.parse(ended_at);
  const key = attemptKey(id, attempt);
  return {
    key,
    task: id,
    attempt,
    kind,
    node,
    fromMs,
    toMs,
    chunk,
    outputs,
    progress,
    fps,
    speed,
    state: status,
    parts: partsOf(key, fromMs, toMs, stages, runs),
    isSpeculative: SPECULATIVE.test(id),
    isEarlier: false,
    reason: undefined,
  };
}

/** The task of an attempt. A superfluous speculative attempt has no task, and gets the task of the other attempt. */
function taskOf({ task: id }: Attempt, tasks: TaskBook["tasks"]): Task | undefined {
  const plain = id.replace(SPECULATIVE, "");
  return tasks.get(id) ?? tasks.get(plain) ?? tasks.get(`${plain}-speculative`);
}

/** An earlier attempt of a task, or an attempt of a task that no longer exists. */
function barOfAttempt({ task: id, attempt, node }: Attempt, task: Task | undefined): Bar {
  return {
    key: attemptKey(id, attempt),
    task: id,
    attempt,
    node,
    fromMs: 0,
    toMs: 0,
    state: "completed",
    parts: [],
    kind: task?.kind ?? kindOf(id),
    isSpeculative: SPECULATIVE.test(id),
    isEarlier: task === undefined,
    chunk: task?.chunk,
    outputs: task?.outputs ?? [],
    reason: undefined,
    progress: 1,
    fps: undefined,
    speed: undefined,
  };
}

/** The kind of task, which is the start of its id. */
const kindOf = (id: string): Task["kind"] =>
  (["inspect", "chunk", "audio", "texts", "join"] as const).find((kind) => id.startsWith(kind)) ?? "encode";

/**
 * The stages of an attempt. The runs of ffmpeg are exact: the source is transferred before the first run, and the
 * result is uploaded after the last run. Until the runs are known, the observed stages count.
 */
function partsOf(
  key: string,
  fromMs: number,
  toMs: number | null,
  stages: TaskBook["stages"],
  runs: Runs,
): readonly BarPart[] {
  const commands = runs.get(key);
  const starts = commands ? startsOfRuns(commands, fromMs) : (stages.get(key) ?? []);
  const inside = starts.filter(({ atMs }) => toMs === null || atMs < toMs);
  return inside.map(({ stage, atMs }, at) => ({
    stage,
    fromMs: at === 0 ? fromMs : atMs,
    toMs: inside[at + 1]?.atMs ?? toMs,
  }));
}

function startsOfRuns(commands: readonly Command[], fromMs: number): StageStart[] {
  const starts = commands.map(({ started_at }) => Date.parse(started_at));
  const ends = commands.map(({ started_at, seconds }) => Date.parse(started_at) + seconds * 1000);
  const first = Math.max(fromMs, Math.min(...starts));
  return [
    ...(first > fromMs ? [{ stage: "transferring", atMs: fromMs } as const] : []),
    { stage: "encoding", atMs: first },
    { stage: "uploading", atMs: Math.max(first, ...ends) },
  ];
}

/** The end of a bar. A running attempt ends at the present. */
export const endOf = ({ fromMs, toMs }: Bar, nowMs: number): number => Math.max(fromMs, toMs ?? nowMs);

/** A short name, such as `chunk 7` or `join`. */
export const nameOf = ({ kind, chunk, task }: Pick<Bar, "kind" | "chunk" | "task">): string =>
  kind === "chunk" ? (chunk ? `chunk ${chunk.number}` : task) : kind;
