// Schemas of responses about the commands that ran for a job, and about its request.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { Instant } from "./task-responses.ts";

export const CommandView = z
  .object({
    task: z.string().describe("The id of its task"),
    attempt: z.int(),
    node: z.string(),
    argv: z
      .array(z.string())
      .describe(
        "The arguments of ffmpeg. Files have names without folders, the input is `source`, and URLs have no user, password " +
          "and query. Arguments that are too long to be kept end in `…`",
      ),
    started_at: Instant,
    seconds: z.number(),
    exit_code: z.int().nullable().describe("Null if a signal ended it"),
    signal: z.string().exactOptional().describe("The signal that ended it, such as `SIGKILL`"),
    stderr_tail: z.string().exactOptional().describe("The end of its output; only if it failed"),
  })
  .describe("One run of ffmpeg")
  .register(NAMED, { id: "Command" });
export type CommandView = z.infer<typeof CommandView>;

export const CommandList = z
  .object({
    job_id: z.string(),
    commands: z.array(CommandView).describe("In the order in which their tasks ended"),
    commands_dropped: z.int().describe("Number of commands that are not kept, because there were too many"),
  })
  .describe("The commands that ran for a job")
  .register(NAMED, { id: "CommandList" });
export type CommandList = z.infer<typeof CommandList>;

/** More tasks are not shown. */
export const MAX_RUNNING_TASKS = 20;

export const RunningCommand = CommandView.pick({ task: true, attempt: true, node: true, argv: true, started_at: true })
  .extend({
    seconds: z.number().describe("How long it has run"),
    output: z.string().describe("The last 20 lines of its output, the last one about its progress"),
  })
  .describe("One run of ffmpeg that has not ended")
  .register(NAMED, { id: "RunningCommand" });

export const RunningCommandList = z
  .object({ job_id: z.string(), commands: z.array(RunningCommand) })
  .describe(`The commands that run now: of the first ${MAX_RUNNING_TASKS} tasks that nodes have`)
  .register(NAMED, { id: "RunningCommandList" });
export type RunningCommandList = z.infer<typeof RunningCommandList>;

export const RequestView = z
  .object({
    job_id: z.string(),
    request: z
      .looseObject({
        storage: z.looseObject({}).exactOptional(),
        outputs: z.record(z.string(), z.unknown()).exactOptional(),
      })
      .describe("A body for `POST /v2/jobs` that requests the same, once the omitted secrets are added"),
    left_out: z
      .array(z.string())
      .describe("The fields that are missing because they are secret, or lack a secret part: of URLs, user and query"),
  })
  .describe("The request of a job, with the sections of its template")
  .register(NAMED, { id: "RequestView" });
export type RequestView = z.infer<typeof RequestView>;
