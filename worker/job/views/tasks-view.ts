// A job's tasks and their attempts as its clients see them.
import { instant, MAX_ATTEMPTS, type TaskChanges, type TaskList, type TaskView } from "#shared/api/task-responses.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import { rangesOf, wantedOutputs } from "../chunks/chunk-work.ts";
import { chunkAttempts, type EndedAttempt } from "../state/attempt-log.ts";
import type { ChunkResult, ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { newTask } from "../state/task-state.ts";
import type { TaskPhase } from "../state/task-table.ts";
import { thousandths } from "./chunk-view.ts";

const STATUS: Readonly<Record<TaskPhase, TaskView["status"]>> = {
  pending: "waiting",
  leased: "running",
  completing: "running",
  done: "completed",
  failed: "failed",
};
/** The order in which the kinds are listed: the order of the work. */
const RANK: Readonly<Record<TaskState["kind"], number>> = {
  inspect: 0,
  encode: 1,
  texts: 2,
  audio: 3,
  chunk: 4,
  join: 5,
};

export function viewTasks(state: JobState): TaskList {
  const chunks = viewedChunks(state);
  const tasks = [
    ...state.tasks.map((task) => viewTask(state, task, chunks)),
    ...[...chunks.spans].flatMap(([index, span]) => viewUntaken(state, chunks, index, span)),
  ];
  return { job_id: state.spec.id, tasks: tasks.sort(inOrder), ...viewAttempts(state) };
}

const inOrder = (a: TaskView, b: TaskView): number =>
  RANK[a.kind] - RANK[b.kind] || (a.chunk?.number ?? 0) - (b.chunk?.number ?? 0);

/** The chunks of the job's video, by their index; none if it is not encoded in chunks. */
type ViewedChunks = { readonly work: ChunkWork | null; readonly spans: ReadonlyMap<number, ChunkSpan> };

function viewedChunks({ chunks, ultrafast }: JobState): ViewedChunks {
  const work = ultrafast?.reason === null ? chunks : null;
  return { work, spans: new Map((work ? rangesOf(work) : []).map((span) => [span.index, span])) };
}

/** A chunk without a task: it is done, or no node has taken it. */
function viewUntaken(state: JobState, { work }: ViewedChunks, index: number, span: ChunkSpan): TaskView[] {
  const result = state.chunkResults[index];
  if (!work || (!result && state.tasks.some(({ chunk }) => chunk === index))) return [];
  const chunk = viewSpan(work, span);
  const outputs = keysOf(state, work.outputs);
  if (result) {
    const done = {
      ...(result.speculativeOf && { speculative_of: result.speculativeOf }),
      ...viewResult(result, span, work),
    };
    return [{ id: result.task, kind: "chunk", outputs, status: "completed", chunk, ...done }];
  }
  const { id } = newTask({ kind: "chunk", round: state.round, chunk: index, outputs: wantedOutputs(state, work) });
  const status = isTerminalJob(state.status) ? "failed" : "waiting";
  return [{ id, kind: "chunk", outputs, status, chunk, attempt: 0, progress: 0 }];
}

function viewResult({ attempt, nodeId, startedAt, tookMs, encodeMs }: ChunkResult, span: ChunkSpan, work: ChunkWork) {
  const times = { started_at: instant(startedAt), ended_at: instant(startedAt + tookMs) };
  const { from_seconds, to_seconds } = viewSpan(work, span);
  const seconds = encodeMs / 1000;
  const rate =
    seconds > 0 ? viewRate({ fps: span.frames / seconds, speed: (to_seconds - from_seconds) / seconds }) : {};
  return { attempt, node: nodeId, ...times, progress: 1, ...rate };
}

function viewSpan({ video }: ChunkWork, { index, from, to }: ChunkSpan): NonNullable<TaskView["chunk"]> {
  const seconds = (us: number): number => thousandths((us - video.startUs) / 1e6);
  const [start, end] = [from?.frameUs ?? video.startUs, to?.frameUs ?? video.endUs];
  return { number: index + 1, from_seconds: seconds(start), to_seconds: seconds(end) };
}

function viewTask(state: JobState, task: TaskState, { work, spans }: ViewedChunks): TaskView {
  const { id, kind, attempt, stage, phase, speculativeOf } = task;
  const status = STATUS[phase];
  const span = task.chunk === null ? undefined : spans.get(task.chunk);
  return {
    id,
    kind,
    outputs: keysOf(state, task.outputs),
    status,
    ...(speculativeOf && { speculative_of: speculativeOf }),
    ...(work && span ? { chunk: viewSpan(work, span) } : {}),
    attempt,
    ...(status === "waiting" ? {} : viewHolder(state, task)),
    ...(phase === "leased" && stage ? { stage } : {}),
    ...(phase === "completing" ? { stage: "uploading" } : {}),
    progress: phase === "completing" || phase === "done" ? 1 : phase === "leased" ? thousandths(task.fraction) : 0,
    ...(status === "waiting" || !task.rate ? {} : viewRate(task.rate)),
  };
}

/** The node of a task's last attempt, and its times. */
function viewHolder({ attempts }: JobState, { id, attempt, lease, phase }: TaskState): Partial<TaskView> {
  const ended = attempts.ended.findLast((entry) => entry.task === id && entry.attempt === attempt);
  const { nodeId, since } = lease ?? ended ?? {};
  return {
    ...(nodeId === undefined ? {} : { node: nodeId }),
    ...(since === undefined ? {} : { started_at: instant(since) }),
    ...(ended && phase !== "leased" && phase !== "completing" ? { ended_at: instant(ended.endedAt) } : {}),
  };
}

function viewRate({ fps, speed }: NonNullable<TaskState["rate"]>): Pick<TaskView, "fps" | "speed"> {
  return {
    ...(fps === undefined ? {} : { fps: thousandths(fps) }),
    ...(speed === undefined ? {} : { speed: thousandths(speed) }),
  };
}

const keysOf = ({ spec }: JobState, outputs: readonly number[]): string[] =>
  outputs.flatMap((index) => spec.outputs[index]?.key ?? []);

/** Lists ended attempts. An attempt that runs again, because its node reported after all, has not ended. */
function viewAttempts(state: JobState): Pick<TaskList, "attempts" | "attempts_dropped"> {
  const running = new Set(state.tasks.flatMap((task) => (task.phase === "leased" ? [attemptKey(task.id, task)] : [])));
  const completed = chunkAttempts(state);
  // A chunk may complete after its lease was given up as lost.
  const known = new Set(completed.map((entry) => attemptKey(entry.task, entry)));
  const ended = [...state.attempts.ended.filter((entry) => !known.has(attemptKey(entry.task, entry))), ...completed]
    .filter((entry) => !running.has(attemptKey(entry.task, entry)))
    .sort((a, b) => a.endedAt - b.endedAt);
  const surplus = Math.max(0, ended.length - MAX_ATTEMPTS);
  return { attempts: ended.slice(surplus).map(viewAttempt), attempts_dropped: state.attempts.dropped + surplus };
}

const attemptKey = (task: string, { attempt }: { readonly attempt: number }): string => `${task} ${attempt}`;

const viewAttempt = ({
  task,
  kind,
  attempt,
  nodeId,
  since,
  endedAt,
  outcome,
  reason,
  speculativeOf,
}: EndedAttempt) => ({
  task,
  kind,
  ...(speculativeOf && { speculative_of: speculativeOf }),
  attempt,
  node: nodeId,
  started_at: instant(since),
  ended_at: instant(endedAt),
  outcome,
  ...(reason === undefined ? {} : { reason }),
});

/** The tasks and attempts that a follower was sent. */
export type SentTasks = {
  /** Each task in JSON, by its id. */
  readonly tasks: ReadonlyMap<string, string>;
  readonly attempts: ReadonlySet<string>;
};

export const NOTHING_SENT: SentTasks = { tasks: new Map(), attempts: new Set() };

/** Changes since the last sent list; null if nothing has changed. */
export function changesSince(sent: SentTasks, list: TaskList): { changes: TaskChanges; sent: SentTasks } | null {
  const texts = new Map(list.tasks.map((task) => [task.id, JSON.stringify(task)]));
  const tasks = list.tasks.filter(({ id }) => sent.tasks.get(id) !== texts.get(id));
  const keys = list.attempts.map((attempt) => attemptKey(`${attempt.task} ${attempt.outcome}`, attempt));
  const attempts = list.attempts.filter((_, at) => !sent.attempts.has(keys[at] ?? ""));
  const removed = [...sent.tasks.keys()].filter((id) => !texts.has(id));
  if (tasks.length + removed.length + attempts.length === 0) return null;
  return {
    changes: { tasks, removed, attempts },
    sent: { tasks: texts, attempts: new Set([...sent.attempts, ...keys]) },
  };
}
