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

export const runsOf = (commands: readonly Command[]): Runs =>
  Map.groupBy(commands, ({ task, attempt }) => attemptKey(task, attempt));

/** All bars, sorted by their start. */
export function barsOf({ tasks, attempts, stages }: TaskBook, runs: Runs = new Map()): Bar[] {
  const bars = new Map<string, Bar>();
  // A superfluous attempt at a chunk has no task any more, and gets the task of the other attempt.
  const second = new Map([...tasks.values()].map((task) => [task.speculative_of, task]));
  const taskOf = ({ task, speculative_of = task }: Attempt) =>
    tasks.get(task) ?? tasks.get(speculative_of) ?? second.get(task);
  for (const task of tasks.values()) {
    const bar = barOfTask(task);
    if (bar) bars.set(bar.key, bar);
  }
  for (const attempt of attempts) {
    const bar = bars.get(attemptKey(attempt.task, attempt.attempt)) ?? barOf(attempt, taskOf(attempt));
    // A restarted task is in both lists.
    if (bar.state === "running") continue;
    const [fromMs, toMs] = [Date.parse(attempt.started_at), Date.parse(attempt.ended_at)];
    bars.set(bar.key, { ...bar, fromMs, toMs, state: attempt.outcome, reason: attempt.reason });
  }
  return [...bars.values()]
    .map((bar) => ({ ...bar, parts: partsOf(bar, stages, runs) }))
    .sort((a, b) => a.fromMs - b.fromMs || (a.key < b.key ? -1 : 1));
}

/** The last attempt of a task; undefined if no node has taken the task. */
function barOfTask(task: Task): Bar | undefined {
  const { node, started_at, ended_at, status, progress, fps, speed } = task;
  if (node === undefined || started_at === undefined || status === "waiting") return undefined;
  const fromMs = Date.parse(started_at);
  const toMs = status === "running" ? null : ended_at === undefined ? fromMs : Date.parse(ended_at);
  return { ...barOf({ ...task, task: task.id, node }, task), fromMs, toMs, state: status, progress, fps, speed };
}

/** A bar without times. `task`: undefined if it no longer exists. */
const barOf = (
  { task: id, kind, attempt, node, speculative_of }: Omit<Attempt, "started_at" | "ended_at" | "outcome">,
  task?: Task,
): Bar => ({
  key: attemptKey(id, attempt),
  task: id,
  attempt,
  kind,
  node,
  fromMs: 0,
  toMs: 0,
  state: "completed",
  parts: [],
  isSpeculative: speculative_of !== undefined,
  isEarlier: task === undefined,
  chunk: task?.chunk,
  outputs: task?.outputs ?? [],
  reason: undefined,
  progress: 1,
  fps: undefined,
  speed: undefined,
});

/**
 * The stages of an attempt. The runs of ffmpeg are exact: the source is transferred before the first run, and the
 * result is uploaded after the last run. Until the runs are known, the observed stages count.
 */
function partsOf({ key, fromMs, toMs }: Bar, stages: TaskBook["stages"], runs: Runs): readonly BarPart[] {
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

/** True if two bars are attempts at the same chunk or task. */
export const isSameWork = (a: Bar, b: Bar): boolean =>
  a.task === b.task || (a.chunk !== undefined && a.chunk.number === b.chunk?.number);

/** A short name, such as `chunk 7` or `join`. */
export const nameOf = ({ kind, chunk, task }: Pick<Bar, "kind" | "chunk" | "task">): string =>
  kind === "chunk" ? (chunk ? `chunk ${chunk.number}` : task) : kind;
