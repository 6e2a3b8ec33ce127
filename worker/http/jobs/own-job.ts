// The job that a client's request names.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { isJobId } from "#shared/ids.ts";
import { findJob, type JobRow } from "../../db/jobs/jobs.ts";
import type { ClientEnv } from "../auth/auth.ts";

/** The row of a job of the account. Throws AppError(job_not_found). */
export async function ownJob(context: Context<ClientEnv>, id: string): Promise<JobRow> {
  const row = isJobId(id) ? await findJob(context.env.DB, context.get("account").id, id) : null;
  if (!row) throw new AppError("job_not_found", "The account has no job with this id");
  return row;
}
