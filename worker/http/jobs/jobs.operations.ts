// /v2/jobs: create, list, read, follow, cancel, retry.

import * as z from "zod";
import { DryRunPlan, JobList } from "#shared/api/job-responses.ts";
import { JobView } from "#shared/job/job-view.ts";
import { NAMED } from "#shared/named-schemas.ts";
import { JobChanges } from "#shared/request/settings-section.ts";
import { AssumedSource, DryRunSwitch } from "../dry-run/assumed-source.ts";
import { JOB_REQUESTS } from "../operation/examples/job-requests.ts";
import { ABORTED_JOB, JOB_ID, RUNNING_JOB, STARTING_JOB } from "../operation/examples/responses.ts";
import {
  headerParameter,
  operations,
  type Parameter,
  pathParameter,
  queryParameters,
  success,
  TAG_PARAMETERS,
} from "../operation/operation.ts";
import { ListParameters } from "../query/list-query.ts";

export const ID = pathParameter("id", "The id of the job", JOB_ID);

export const IDEMPOTENCY_KEY: Parameter = {
  ...headerParameter(
    "Idempotency-Key",
    "Makes retries safe: for 24 hours, the same key with the same body returns the same job, and the same key with another " +
      "body is an error. 1 to 255 visible ASCII characters.",
  ),
  schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
};

/** W3C Trace Context. The standard requires that invalid headers are ignored, so no pattern validates them. */
export const TRACE_HEADERS = [
  headerParameter(
    "traceparent",
    "The trace that the job becomes a part of ([W3C Trace Context](https://www.w3.org/TR/trace-context-2/)): it is passed " +
      "to nodes, sent with webhooks, and in log lines. An invalid value is ignored.",
  ),
  headerParameter("tracestate", "Passed on with `traceparent` if it is valid and has at most 512 characters."),
];

/** Ends the descriptions of operations that return a changed job. */
const UNREAD = "With an API key that has no scope `jobs:read`, the response has only `id` and `status`.";

export const JOB_OPERATIONS = operations({ tag: "Jobs", path: [ID] })({
  createJob: {
    route: "POST /v2/jobs",
    isUnaudited: true,
    access: "job-key",
    summary: "Create a job",
    description:
      "The body must be JSON, whatever its content type. Sections are validated in the order input, storage, outputs, " +
      "notification, settings, tags; the response reports the first error. A job may name a `template`. With `dry_run=true`, no job is created: the response " +
      "is the plan for a source that the other query parameters describe, or for the source of a probe.",
    parameters: [
      IDEMPOTENCY_KEY,
      ...TRACE_HEADERS,
      ...queryParameters(DryRunSwitch),
      ...queryParameters(AssumedSource),
    ],
    body: { json: "JobRequest", examples: JOB_REQUESTS, code: "input_not_valid" },
    responses: [
      success(201, "The new job", JobView, STARTING_JOB),
      success(200, "The plan, with `dry_run=true`", DryRunPlan),
    ],
    codes: [
      ...(["input_url_not_valid", "storage_not_valid", "storage_service_not_valid"] as const),
      ...(["storage_credentials_not_valid", "outputs_not_valid", "output_not_valid"] as const),
      ...(["output_format_not_valid", "output_param_not_valid", "output_condition_not_valid"] as const),
      ...(["output_key_not_unique", "output_path_not_unique", "outputs_out_of_range"] as const),
      ...(["notification_not_valid", "settings_not_valid", "tags_not_valid", "idempotency_key_not_valid"] as const),
      ...(["idempotency_key_reused", "too_many_jobs", "sealing_key_missing", "probe_not_found"] as const),
      ...(["probe_not_completed", "template_not_found", "template_not_valid", "template_vars_not_valid"] as const),
    ],
  },
  listJobs: {
    route: "GET /v2/jobs",
    access: ["jobs:read"],
    summary: "List jobs",
    description:
      "The jobs of the account in pages, newest first by default. A page may have fewer jobs than `limit`, or none: only the last one " +
      "has no `next_cursor`. With `q`, with a tag and `status` or another tag, or with `sort` and a condition other than `status`, a page searches 2,000 jobs. Jobs are listed until the operator's `LIST_DAYS` (30 by default) after their end.",
    parameters: [...queryParameters(ListParameters), TAG_PARAMETERS],
    responses: [success(200, "A page of jobs", JobList)],
  },
  getJob: {
    route: "GET /v2/jobs/:id",
    access: ["jobs:read"],
    summary: "Read a job",
    responses: [success(200, "The job", JobView)],
    codes: ["job_not_found"],
  },
  cancelJob: {
    route: "DELETE /v2/jobs/:id",
    access: ["jobs:create"],
    summary: "Cancel a job",
    description: `Ends the job immediately. Finished outputs remain; the others become \`aborted\`. ${UNREAD}`,
    responses: [success(200, "The canceled job", JobView, ABORTED_JOB)],
    codes: ["job_not_found", "job_state_conflict"],
  },
  changeJob: {
    route: "PATCH /v2/jobs/:id",
    access: ["jobs:create"],
    summary: "Change the priority or the tags of a job",
    description:
      "`tags` are merged into the tags of the job, also after its end; null removes a tag. `settings.priority`: work that waits for a node, now or later, has this priority from now on; 50 moves it before the account's other jobs. Work that a node " +
      "has is not interrupted. " +
      UNREAD,
    body: {
      json: JobChanges.describe("A change of a job").register(NAMED, { id: "ChangedJob" }),
      code: "settings_not_valid",
      examples: {
        front: { summary: "Before the account's other jobs", value: { settings: { priority: 50 } } },
        tags: { summary: "Set a tag, remove another", value: { tags: { tenant: "a", order: null } } },
      },
    },
    responses: [success(200, "The job", JobView, RUNNING_JOB)],
    codes: ["job_not_found", "tags_not_valid", "job_state_conflict"],
  },
  retryJob: {
    route: "POST /v2/jobs/:id/retry",
    access: ["jobs:create"],
    summary: "Retry a job",
    description:
      "Restarts an ended job for the outputs that it did not finish. Finished and skipped outputs remain unchanged. Without " +
      `\`traceparent\`, the job remains a part of its trace. ${UNREAD}`,
    parameters: TRACE_HEADERS,
    responses: [success(200, "The restarted job", JobView, STARTING_JOB)],
    codes: ["job_not_found", "job_state_conflict", "too_many_jobs"],
  },
  followJob: {
    route: "GET /v2/jobs/:id/events",
    access: ["jobs:read"],
    summary: "Follow a job",
    description:
      "Server-sent events: `job` with the complete job immediately and after each change, `tasks` with the tasks that have " +
      "changed (TaskChanges; all of them at first), at most twice a second, then `end` with the data of the last `job`, " +
      "after which the stream closes. If a stream closes without `end`, connect again: the first event always has the " +
      "complete current state. A comment every 15 seconds keeps idle connections open.",
    responses: [
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
});
