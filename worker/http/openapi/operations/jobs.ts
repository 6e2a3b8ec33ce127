// /v2/jobs: create, list, read, follow, cancel, retry.
import * as z from "zod";
import { AssumedSource, DryRunSwitch } from "../../dry-run/assumed-source.ts";
import { ListParameters } from "../../query/list-query.ts";
import { ABORTED_JOB, ANSWER_EXAMPLES, JOB_ID, RUNNING_JOB, STARTING_JOB } from "../examples/answers.ts";
import { JOB_REQUESTS } from "../examples/job-requests.ts";
import { type Operation, type Parameter, pathParameter, queryParameters } from "../operation.ts";

export const ID = pathParameter("id", "The job's id", JOB_ID);

const IDEMPOTENCY_KEY: Parameter = {
  in: "header",
  name: "Idempotency-Key",
  description:
    "Makes it safe to send the request again: for 24 hours the same key with the same body is the same job, and the same " +
    "key with another body is refused. 1 to 255 visible ASCII characters.",
  schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  required: false,
};

const job = { tag: "Jobs", access: "client" } as const;

export const JOB_OPERATIONS: readonly Operation[] = [
  {
    ...job,
    method: "post",
    path: "/v2/jobs",
    id: "createJob",
    summary: "Create a job",
    description:
      "The body is JSON whatever its content type says. Sections are checked in the order input, storage, outputs, " +
      "notification, settings; the first mistake is answered. With `dry_run=true` nothing is begun: the answer says what " +
      "would be made of a source that the other parameters of the query describe.",
    parameters: [IDEMPOTENCY_KEY, ...queryParameters(DryRunSwitch), ...queryParameters(AssumedSource)],
    body: { json: "JobRequest", examples: JOB_REQUESTS },
    answers: [
      { status: 201, description: "The job, just begun", content: { json: "Job", example: STARTING_JOB } },
      {
        status: 200,
        description: "The plan, with `dry_run=true`",
        content: { json: "DryRunPlan", example: ANSWER_EXAMPLES.DryRunPlan },
      },
    ],
    codes: [
      ...(["json_not_valid", "input_not_valid", "input_url_not_valid"] as const),
      ...(["storage_not_valid", "storage_service_not_valid", "storage_credentials_not_valid"] as const),
      ...(["outputs_not_valid", "output_not_valid", "output_format_not_valid", "output_param_not_valid"] as const),
      ...(["output_condition_not_valid", "output_key_not_unique", "output_path_not_unique"] as const),
      ...(["outputs_out_of_range", "notification_not_valid", "settings_not_valid", "query_not_valid"] as const),
      ...(["idempotency_key_not_valid", "idempotency_key_reused", "body_too_large"] as const),
      ...(["too_many_jobs", "sealing_key_missing"] as const),
    ],
  },
  {
    ...job,
    method: "get",
    path: "/v2/jobs",
    id: "listJobs",
    summary: "List jobs",
    description: "The account's own jobs, newest first, page by page.",
    parameters: queryParameters(ListParameters),
    answers: [{ status: 200, description: "A page", content: { json: "JobList", example: ANSWER_EXAMPLES.JobList } }],
    codes: ["query_not_valid"],
  },
  {
    ...job,
    method: "get",
    path: "/v2/jobs/:id",
    id: "getJob",
    summary: "Read a job",
    parameters: [ID],
    answers: [{ status: 200, description: "The job", content: { json: "Job", example: ANSWER_EXAMPLES.Job } }],
    codes: ["job_not_found"],
  },
  {
    ...job,
    method: "delete",
    path: "/v2/jobs/:id",
    id: "cancelJob",
    summary: "Cancel a job",
    description: "Ends it at once. Finished outputs stay, the others become `aborted`.",
    parameters: [ID],
    answers: [{ status: 200, description: "The job, ended", content: { json: "Job", example: ABORTED_JOB } }],
    codes: ["job_not_found", "job_state_conflict"],
  },
  {
    ...job,
    method: "post",
    path: "/v2/jobs/:id/retry",
    id: "retryJob",
    summary: "Retry a job",
    description: "Begins an ended job anew for what it did not finish. Finished and skipped outputs stay as they are.",
    parameters: [ID],
    answers: [{ status: 200, description: "The job, begun anew", content: { json: "Job", example: STARTING_JOB } }],
    codes: ["job_not_found", "job_state_conflict", "too_many_jobs"],
  },
  {
    ...job,
    method: "get",
    path: "/v2/jobs/:id/events",
    id: "followJob",
    summary: "Follow a job",
    description:
      "Server-sent events: `job` with the whole job at once and after each change, then `end` with the same, and the " +
      "stream closes. A stream that closes without `end` was cut off: connect again, the first event is always the " +
      "whole present. A comment every 15 seconds keeps idle connections open.",
    parameters: [ID],
    answers: [
      {
        status: 200,
        description: "The stream",
        content: {
          mediaType: "text/event-stream",
          example: `retry: 2000\n\nevent: job\nid: 1\ndata: ${JSON.stringify(RUNNING_JOB)}\n\n`,
        },
      },
    ],
    codes: ["job_not_found"],
  },
];
