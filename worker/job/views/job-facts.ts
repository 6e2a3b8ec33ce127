// The facts of a job by their names.
import type { CommandList } from "#shared/api/command-responses.ts";
import { instant, type QueueView } from "#shared/api/task-responses.ts";
import { assertNever } from "#shared/errors.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import type { JobFact } from "../../rpc/job.ts";
import type { Settings } from "../../settings.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import { argumentsOf, type LoggedRun } from "../state/command-log.ts";
import type { JobState } from "../state/job-state.ts";
import { isQueued } from "../state/work-state.ts";
import { viewRequest } from "./request-view.ts";
import { viewTasks } from "./tasks-view.ts";

type FactDeps = {
  readonly settings: Pick<Settings, "sealingKeys">;
  /** Asks the hub. */
  place(state: JobState): Promise<Place | null>;
};

/**
 * The body of a response (TaskList, CommandList, RequestView or QueueView). Throws AppError(sealing_key_missing), and
 * errors of the hub.
 */
export async function viewFact(state: JobState, fact: JobFact, { settings, place }: FactDeps): Promise<object> {
  switch (fact) {
    case "tasks":
      return viewTasks(state);
    case "commands":
      return viewCommands(state);
    case "request":
      return viewRequest(state.spec, await openJobSecrets(state.spec, settings.sealingKeys));
    case "queue":
      return viewQueue(state, isQueued(state) ? await place(state) : null);
    default:
      return assertNever(fact);
  }
}

const viewQueue = ({ spec }: JobState, place: Place | null): QueueView => ({
  job_id: spec.id,
  ahead: place?.ahead ?? null,
  starts_in_seconds: place?.seconds ?? null,
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
