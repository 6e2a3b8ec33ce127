// /v2/jobs/:id/{tasks,commands,running,request,queue} and /v2/metadata/jobs: details about a job's work and files.
import { type Operation, pathParameter, success } from "../operation.ts";
import { ID } from "./jobs.ts";

const fact = {
  method: "get",
  tag: "Jobs",
  access: "client",
  parameters: [ID],
  codes: ["job_not_found", "job_state_conflict", "sealing_key_missing"],
} as const;
const KEPT = "Kept until the operator's `RETENTION_DAYS` (7 by default) after the end of the job.";

export const JOB_FACT_OPERATIONS: readonly Operation[] = [
  {
    ...fact,
    path: "/v2/jobs/:id/tasks",
    id: "getJobTasks",
    summary: "Read the tasks of a job",
    description:
      "Each task with its node, times, stage and speed, the chunks of a video that no node has taken yet, and the " +
      `attempts that have ended. The event stream of the job sends the changes. ${KEPT}`,
    responses: [success(200, "The tasks", "TaskList")],
  },
  {
    ...fact,
    path: "/v2/jobs/:id/commands",
    id: "getJobCommands",
    summary: "Read the commands that ran for a job",
    description:
      "The runs of ffmpeg that nodes reported at the end of their tasks, with the end of ffmpeg's output for failed runs: " +
      `up to 16 KB of each attempt. Tasks that were canceled or lost report none. ${KEPT}`,
    responses: [success(200, "The commands", "CommandList")],
  },
  {
    ...fact,
    path: "/v2/jobs/:id/running",
    id: "getJobRunningCommands",
    summary: "Read the commands that run now for a job",
    description:
      "The nodes of the job are asked when the request arrives: the command of each run of ffmpeg, and the last lines of its " +
      "output. Nodes that do not respond within two seconds, or are older than this route, are left out.",
    responses: [success(200, "The commands", "RunningCommandList")],
  },
  {
    ...fact,
    path: "/v2/jobs/:id/request",
    id: "getJobRequest",
    summary: "Read the request of a job",
    description:
      "The request with the sections of its template, to be edited and sent again. Secrets are left out, and `left_out` names " +
      `them. ${KEPT}`,
    responses: [success(200, "The request", "RequestView")],
  },
  {
    ...fact,
    path: "/v2/jobs/:id/queue",
    id: "getJobQueue",
    summary: "Read the place of a job in the queue",
    description:
      "Number of jobs before it, and about when a node starts it. Accounts take turns: jobs of other accounts do " +
      "not count, but lengthen the time.",
    responses: [success(200, "The place", "QueueView")],
  },
];

const metadata = { tag: "Metadata", access: "client" } as const;

export const METADATA_OPERATIONS: readonly Operation[] = [
  {
    ...metadata,
    method: "get",
    path: "/v2/metadata/jobs/:id",
    id: "getJobMetadata",
    summary: "Read all metadata of a job",
    description:
      "The metadata known so far, empty at first. Failed outputs and skipped outputs have none. Kept as long as the job: the operator's `LIST_DAYS` (30 by default) after its end.",
    parameters: [ID],
    responses: [success(200, "The metadata", "JobMetadata")],
    codes: ["job_not_found", "metadata_not_found"],
  },
  {
    ...metadata,
    method: "get",
    path: "/v2/metadata/jobs/:id/:key",
    id: "getKeyMetadata",
    summary: "Read the metadata of the input or of one output",
    parameters: [
      ID,
      pathParameter(
        "key",
        "The key of an output, or `input` or `source`; `<format>:1` also names a single output without a `key`",
        "mp4:240p",
      ),
    ],
    responses: [success(200, "The metadata", "KeyMetadata")],
    codes: ["job_not_found", "metadata_not_found"],
  },
];
