// The facts of a job by their names.
import type { CommandList } from "#shared/api/command-responses.ts";
import { instant } from "#shared/api/task-responses.ts";
import { assertNever } from "#shared/errors.ts";
import type { JobFact } from "../../rpc/job.ts";
import type { Settings } from "../../settings.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import { argumentsOf, type LoggedRun } from "../state/command-log.ts";
import type { JobState } from "../state/job-state.ts";
import { viewRequest } from "./request-view.ts";
import { viewTasks } from "./tasks-view.ts";

/** The body of a response (TaskList, CommandList or RequestView). Throws AppError(sealing_key_missing). */
export async function viewFact(state: JobState, fact: JobFact, { sealingKeys }: Settings): Promise<object> {
  switch (fact) {
    case "tasks":
      return viewTasks(state);
    case "commands":
      return viewCommands(state);
    case "request":
      return viewRequest(state.spec, await openJobSecrets(state.spec, sealingKeys));
    default:
      return assertNever(fact);
  }
}

/** The commands that ran for a job as its clients see them. */
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
