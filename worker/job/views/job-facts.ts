// The facts of a job by their names.
import {
  type CommandList,
  MAX_RUNNING_TASKS,
  type RequestView,
  type RunningCommandList,
} from "#shared/api/command-responses.ts";
import { instant, type QueueView } from "#shared/api/task-responses.ts";
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import type { JobFact } from "../../rpc/job.ts";
import { argumentsOf, type LoggedRun } from "../state/command-log.ts";
import { leaseIdOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { isQueued } from "../state/work-state.ts";
import { viewTasks } from "./tasks-view.ts";

export type FactDeps = {
  /** Both ask the job's hub. */
  place(): Promise<Place | null>;
  running(leases: LeaseId[]): Promise<CommandReport[][]>;
};

/** The body of a response: TaskList, CommandList, RunningCommandList, RequestView, QueueView. Throws errors of hubs. */
export async function viewFact(state: JobState, fact: JobFact, deps: FactDeps): Promise<object> {
  const { place } = deps;
  switch (fact) {
    case "tasks":
      return viewTasks(state);
    case "commands":
      return viewCommands(state);
    case "running":
      return viewRunning(state, deps);
    case "request":
      return viewRequest(state);
    case "queue":
      return viewQueue(state, isQueued(state) ? await place() : null);
    default:
      return assertNever(fact);
  }
}

const viewRequest = ({ spec, requested }: JobState): RequestView => ({
  job_id: spec.id,
  request: requested.body,
  left_out: requested.leftOut,
});

const viewQueue = ({ spec }: JobState, place: Place | null): QueueView => ({
  job_id: spec.id,
  ahead: place?.ahead ?? null,
  starts_in_seconds: place?.seconds ?? null,
});

/** The commands that run now, of the first tasks that nodes have. */
async function viewRunning(state: JobState, { running }: FactDeps): Promise<RunningCommandList> {
  const leased = state.tasks.filter(({ phase, lease }) => phase === "leased" && lease).slice(0, MAX_RUNNING_TASKS);
  const runs = leased.length === 0 ? [] : await running(leased.map((task) => leaseIdOf(state, task)));
  const commands = leased.flatMap((task, at) => (runs[at] ?? []).map((run) => viewRun(task, run)));
  return { job_id: state.spec.id, commands };
}

const viewRun = ({ id, attempt, lease }: TaskState, { argv, afterMs, tookMs, stderrTail = "" }: CommandReport) => ({
  task: id,
  attempt,
  node: lease?.nodeId ?? "",
  argv,
  started_at: instant((lease?.since ?? 0) + afterMs),
  seconds: tookMs / 1000,
  output: stderrTail,
});

/** The commands that ran for a job, as its clients see them. */
function viewCommands({ spec, commands }: JobState): CommandList {
  return {
    job_id: spec.id,
    commands: commands.attempts.flatMap(({ task, attempt, nodeId, since, runs }) =>
      runs.map((run) => ({ task, attempt, node: nodeId, argv: argumentsOf(commands, run), ...viewEnd(run, since) })),
    ),
    commands_dropped: commands.dropped,
  };
}

function viewEnd([, , afterMs, tookMs, failure]: LoggedRun, since: number) {
  const { exitCode, signal, stderrTail } = failure ?? { exitCode: 0 };
  return {
    started_at: instant(since + afterMs),
    seconds: tookMs / 1000,
    exit_code: exitCode,
    ...(signal === undefined ? {} : { signal }),
    ...(stderrTail === undefined ? {} : { stderr_tail: stderrTail }),
  };
}
