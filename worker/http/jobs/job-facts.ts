// GET /v2/jobs/:id/{tasks,commands,running,request,queue}: details about a job's work, from its object. The routes of
// jobs contain these.

import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { withDeadline } from "../../deadline.ts";
import { type JobFact, type JobResult, jobOf } from "../../rpc/job.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { mount } from "../operation/mount.ts";
import { jsonText } from "../responses/json-response.ts";
import { JOB_FACT_OPERATIONS } from "./job-facts.operations.ts";
import { ownJob } from "./own-job.ts";

export const jobFacts = mount(JOB_FACT_OPERATIONS, {
  getJobTasks: (context) => respond(context, context.req.param("id"), "tasks"),
  getJobCommands: (context) => respond(context, context.req.param("id"), "commands"),
  getJobRunningCommands: (context) => respond(context, context.req.param("id"), "running"),
  getJobRequest: (context) => respond(context, context.req.param("id"), "request"),
  getJobQueue: (context) => respond(context, context.req.param("id"), "queue"),
});

/** Responds with the body that the job's object makes (rpc/job.ts). */
async function respond(context: Context<ClientEnv>, id: string, fact: JobFact): Promise<Response> {
  await ownJob(context, id);
  const body = await withDeadline<JobResult<string>>(fact, jobOf(context.env, id).fact(fact));
  if (body.ok) return jsonText(context, body.value);
  if (body.error.code !== "job_not_found") throw AppError.from(body.error);
  throw new AppError(
    "job_state_conflict",
    "The tasks, commands and request of this job were deleted some time after the job ended",
  );
}
