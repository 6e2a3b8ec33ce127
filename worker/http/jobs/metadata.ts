// GET /v2/metadata/jobs/:id and /v2/metadata/jobs/:id/:key.

import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { withDeadline } from "../../deadline.ts";
import { type JobResult, jobOf } from "../../rpc/job.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { mount } from "../operation/mount.ts";
import { jsonText } from "../responses/json-response.ts";
import { METADATA_OPERATIONS } from "./job-facts.operations.ts";
import { ownJob } from "./own-job.ts";

export const metadata = mount(METADATA_OPERATIONS, {
  getJobMetadata: (context) => respond(context, context.req.param("id"), null),
  getKeyMetadata: (context) => respond(context, context.req.param("id"), context.req.param("key").replace(/\/$/, "")),
});

/** Responds with the body that the job's object makes (JobMetadata or KeyMetadata). */
async function respond(context: Context<ClientEnv>, id: string, key: string | null): Promise<Response> {
  await ownJob(context, id);
  const body = await withDeadline<JobResult<string>>("metadata", jobOf(context.env, id).metadata(key));
  if (body.ok) return jsonText(context, body.value);
  if (body.error.code !== "job_not_found") throw AppError.from(body.error);
  throw new AppError("metadata_not_found", "The metadata of this job was deleted");
}
