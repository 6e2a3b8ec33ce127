// The commands that ran for a job as its clients see them.
import type { CommandList } from "#shared/api/command-responses.ts";
import { instant } from "#shared/api/task-responses.ts";
import { argumentsOf, type LoggedRun } from "../state/command-log.ts";
import type { JobState } from "../state/job-state.ts";

export function viewCommands({ spec, commands }: JobState): CommandList {
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
