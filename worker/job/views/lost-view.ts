// The view of a job that never ended and has only its row in the index left.
import type { Failure } from "#shared/errors.ts";
import { contractDate, JobView, type OutputView } from "#shared/job/job-view.ts";
import { OUTPUT_STATUS } from "#shared/job/output-status.ts";
import type { JobRow } from "../../db/jobs/jobs.ts";

/** Failure of a job whose stored state is lost. */
export const LOST_JOB: Failure = {
  code: "internal_error",
  message: "The service lost the state of this job; please create it again",
};
const FAILED = { error: LOST_JOB.message, error_code: LOST_JOB.code };

/**
 * The final view of a lost job: its last view, with all unfinished outputs failed. If that view cannot be read, the
 * view is made of the other columns, without outputs.
 */
export function lostView(
  row: Pick<JobRow, "id" | "createdAt" | "view">,
  now: number,
): { status: JobView["status"]; view: string } {
  const last = lastView(row);
  const ended: JobView = {
    ...last,
    status: "job.failed",
    completed_at: contractDate(now),
    ends_at: null,
    progress: "100%",
    outputs: last.outputs.map(failed),
  };
  return { status: ended.status, view: JSON.stringify(ended) };
}

function lastView({ id, createdAt, view }: Pick<JobRow, "id" | "createdAt" | "view">): JobView {
  try {
    return JobView.parse(JSON.parse(view));
  } catch {
    return {
      id,
      created_at: contractDate(createdAt),
      completed_at: null,
      ends_at: null,
      status: "job.failed",
      progress: "100%",
      input: { status: "input.failed", ...FAILED },
      outputs: [],
    };
  }
}

function failed({ progress: _, ...output }: OutputView): OutputView {
  const { done, failed, skipped, aborted } = OUTPUT_STATUS[output.type];
  if ([done, failed, skipped, aborted].some((status) => status === output.status)) return output;
  return { ...output, status: failed, ...FAILED };
}
