// /v2/jobs/:id/{tasks,commands,running,request,queue} and /v2/metadata/jobs: details about a job's work and files.
import { CommandList, RequestView, RunningCommandList } from "#shared/api/command-responses.ts";
import { JobMetadata, KeyMetadata } from "#shared/api/job-responses.ts";
import { QueueView, TaskList } from "#shared/api/task-responses.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";
import { ID } from "./jobs.operations.ts";

const FACT = {
  tag: "Jobs",
  access: ["jobs:read"],
  path: [ID],
  codes: ["job_not_found", "job_state_conflict", "sealing_key_missing"],
} as const;
const KEPT = "Kept until the operator's `RETENTION_DAYS` (7 by default) after the end of the job.";

export const JOB_FACT_OPERATIONS = operations(FACT)({
  getJobTasks: {
    route: "GET /v2/jobs/:id/tasks",
    summary: "Read the tasks of a job",
    description:
      "Each task with its node, times, stage and speed, the chunks of a video that no node has taken yet, and the " +
      `attempts that have ended. The event stream of the job sends the changes. ${KEPT}`,
    responses: [success(200, "The tasks", TaskList)],
  },
  getJobCommands: {
    route: "GET /v2/jobs/:id/commands",
    summary: "Read the commands that ran for a job",
    description:
      "The runs of ffmpeg that nodes reported at the end of their tasks, with the end of ffmpeg's output for failed runs: " +
      `up to 16 KB of each attempt. Tasks that were canceled or lost report none. ${KEPT}`,
    responses: [success(200, "The commands", CommandList)],
  },
  getJobRunningCommands: {
    route: "GET /v2/jobs/:id/running",
    summary: "Read the commands that run now for a job",
    description:
      "The nodes of the job are asked when the request arrives: the command of each run of ffmpeg, and the last lines of its " +
      "output. Nodes that do not respond within two seconds, or are older than this route, are left out.",
    responses: [success(200, "The commands", RunningCommandList)],
  },
  getJobRequest: {
    route: "GET /v2/jobs/:id/request",
    summary: "Read the request of a job",
    description:
      "The request with the sections of its template, to be edited and sent again. Secrets are left out, and `left_out` names " +
      `them. ${KEPT}`,
    responses: [success(200, "The request", RequestView)],
  },
  getJobQueue: {
    route: "GET /v2/jobs/:id/queue",
    summary: "Read the place of a job in the queue",
    description:
      "Number of jobs before it, and about when a node starts it. Accounts take turns: jobs of other accounts do " +
      "not count, but lengthen the time.",
    responses: [success(200, "The place", QueueView)],
  },
});

const KEY = pathParameter(
  "key",
  "The key of an output, or `input` or `source`; `<format>:1` also names a single output without a `key`",
  "mp4:240p",
);

export const METADATA_OPERATIONS = operations({
  path: [ID, KEY],
  tag: "Metadata",
  access: ["jobs:read"],
  codes: ["job_not_found", "metadata_not_found"],
})({
  getJobMetadata: {
    route: "GET /v2/metadata/jobs/:id",
    summary: "Read all metadata of a job",
    description:
      "The metadata known so far, empty at first. Failed outputs and skipped outputs have none. Kept as long as the job: the operator's `LIST_DAYS` (30 by default) after its end.",
    responses: [success(200, "The metadata", JobMetadata)],
  },
  getKeyMetadata: {
    route: "GET /v2/metadata/jobs/:id/:key{.+}",
    summary: "Read the metadata of the input or of one output",
    responses: [success(200, "The metadata", KeyMetadata)],
  },
});
