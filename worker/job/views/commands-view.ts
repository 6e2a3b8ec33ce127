// The commands that ran for a job as its clients see them.
import type { CommandList } from "#shared/api/command-responses.ts";
import { instant } from "#shared/api/task-responses.ts";
import { argumentsOf } from "../state/command-log.ts";
import type { JobState } from "../state/job-state.ts";

export function viewCommands({ spec, commands }: JobState): CommandList {
  return {
    job_id: spec.id,
    commands: commands.attempts.flatMap(({ task, attempt, nodeId, since, runs }) =>
      runs.map((run) => ({
        ...{ task, attempt, node: nodeId },
        argv: argumentsOf(commands, run),
        started_at: instant(since + run.afterMs),
        seconds: run.tookMs / 1000,
        exit_code: run.exitCode,
        ...(run.signal === undefined ? {} : { signal: run.signal }),
        ...(run.stderrTail === undefined ? {} : { stderr_tail: run.stderrTail }),
      })),
    ),
    commands_dropped: commands.dropped,
  };
}
