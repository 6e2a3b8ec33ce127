// The facts of a job by their names.
import { assertNever } from "#shared/errors.ts";
import type { JobFact } from "../../rpc/job.ts";
import type { Settings } from "../../settings.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import type { JobState } from "../state/job-state.ts";
import { viewCommands } from "./commands-view.ts";
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
