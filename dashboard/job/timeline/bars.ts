// The attempts of a job's tasks as bars: who worked on what, from when to when, and how it ended. Pure.
import type { Attempt, Command, Task } from "../../../client/index.ts";
import { attemptKey, type Stage, type StageStart, type TaskBook } from "../live/task-book.ts";

export type BarState = "running" | Attempt["outcome"];

/** A part of a bar in which its node did one thing. `toMs` null: it still does. */
export type BarPart = { readonly stage: Stage; readonly fromMs: number; readonly toMs: number | null };

export type Bar = {
  /** Unique in the job. */
  readonly key: string;
  readonly task: string;
  readonly attempt: number;
  readonly kind: Task["kind"];
  readonly node: string;
  readonly fromMs: number;
  /** null: it runs. */
  readonly toMs: number | null;
  readonly state: BarState;
  /** In the order of time, without gaps; empty if nobody knows what the node did when. */
  readonly parts: readonly BarPart[];
  /** A second attempt of a slow chunk on another node. */
  readonly isSpeculative: boolean;
  /** Of a start of the job before the last one. */
  readonly isEarlier: boolean;
  readonly chunk: Task["chunk"];
  readonly outputs: readonly string[];
  /** Why it was not completed. */
  readonly reason: string | undefined;
  /** Of the stage, 0 to 1, while it runs. */
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

/** All bars, by their start. */
export function barsOf({ tasks, attempts, stages }: TaskBook, runs: Runs = new Map()): Bar[] {
  const bars = new Map<string, Bar>();
  for (const task of tasks.values()) {
    const key = attemptKey(task.id, task.attempt);
    const bar = kept(ofTasks, task, [stages.get(key), runs.get(key)], () => barOfTask(task, stages, runs));
    if (bar) bars.set(bar.key, bar);
  }
  for (const attempt of attempts) {
    const key = attemptKey(attempt.task, attempt.attempt);
    const current = bars.get(key);
    // A task that runs again after all is in both.
    if (current?.state === "running") continue;
    const task = current ? undefined : taskOf(attempt, tasks);
    const made = kept(ofAttempts, attempt, [stages.get(key), runs.get(key), current, task], () =>
      endedBar(attempt, current ?? barOfAttempt(attempt, task), stages, runs),
    );
    if (made) bars.set(key, made);
  }
  return [...bars.values()].sort((a, b) => a.fromMs - b.fromMs || (a.key < b.key ? -1 : 1));
}

type Kept = { readonly inputs: readonly unknown[]; readonly bar: Bar | undefined };
const ofTasks = new WeakMap<object, Kept>();
const ofAttempts = new WeakMap<object, Kept>();

/** The same bar as before while nothing of it has changed: then it need not be drawn again. */
function kept(all: WeakMap<object, Kept>, of: object, inputs: readonly unknown[], make: () => Bar | undefined) {
  const known = all.get(of);
  if (known && inputs.every((input, at) => input === known.inputs[at])) return known.bar;
  const bar = make();
  all.set(of, { inputs, bar });
  return bar;
}

function endedBar(attempt: Attempt, base: Bar, stages: TaskBook["stages"], runs: Runs): Bar {
  const [fromMs, toMs] = [Date.parse(attempt.started_at), Date.parse(attempt.ended_at)];
  const parts = partsOf(base.key, fromMs, toMs, stages, runs);
  return { ...base, fromMs, toMs, state: attempt.outcome, reason: attempt.reason, parts };
}

/** The last attempt of a task; undefined if no node has taken it. */
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

/** The task of an attempt. The one of two attempts that was not needed has none any more: then that of the other. */
function taskOf({ task: id }: Attempt, tasks: TaskBook["tasks"]): Task | undefined {
  const plain = id.replace(SPECULATIVE, "");
  return tasks.get(id) ?? tasks.get(plain) ?? tasks.get(`${plain}-speculative`);
}

/** An attempt before the last one of a task, or of a task that no longer exists. */
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

/** The kind that the id of a task begins with. */
const kindOf = (id: string): Task["kind"] =>
  (["inspect", "chunk", "audio", "join"] as const).find((kind) => id.startsWith(kind)) ?? "encode";

/**
 * What the node did when. The runs of ffmpeg are exact: before the first one the source is transferred, after the last
 * one the result is uploaded. Until they are known it is what was seen.
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

/** The end of a bar, which is the present for one that runs. */
export const endOf = ({ fromMs, toMs }: Bar, nowMs: number): number => Math.max(fromMs, toMs ?? nowMs);

/** A short name, such as `chunk 7` or `join`. */
export const nameOf = ({ kind, chunk, task }: Pick<Bar, "kind" | "chunk" | "task">): string =>
  kind === "chunk" ? (chunk ? `chunk ${chunk.number}` : task) : kind;
