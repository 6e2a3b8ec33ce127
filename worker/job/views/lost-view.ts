// How a job looks of which only the row in the index is left, though it never ended.
import { contractDate, JobView, type OutputView } from "#shared/job/job-view.ts";
import { OUTPUT_STATUS } from "#shared/job/output-status.ts";
import type { JobRow } from "../../db/jobs.ts";
import { LOST } from "../state/unreadable.ts";

const FAILED = { error: LOST.message, error_code: LOST.code };

/**
 * The end of a job that is lost: of its last view what is finished stays, all else has failed; where that view cannot be
 * read, what the other columns say.
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
      ...{ id, created_at: contractDate(createdAt), completed_at: null, status: "job.failed", progress: "100%" },
      ...{ input: { status: "input.failed", ...FAILED }, outputs: [] },
    };
  }
}

function failed({ progress: _, ...output }: OutputView): OutputView {
  const { done, failed, skipped, aborted } = OUTPUT_STATUS[output.type];
  if ([done, failed, skipped, aborted].some((status) => status === output.status)) return output;
  return { ...output, status: failed, ...FAILED };
}
