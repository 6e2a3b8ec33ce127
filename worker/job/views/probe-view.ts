// A probe as its client sees it: a job that makes nothing of its source.
import type { ProbeView } from "#shared/api/probe-responses.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import type { JobState } from "../state/job-state.ts";
import { isQueued } from "../state/work-state.ts";
import { failureMembers, viewJob, waitingMembers } from "./job-view.ts";
import { inputMetadata } from "./metadata-view.ts";

export function viewProbe(state: JobState): ProbeView {
  const { id, created_at, completed_at } = viewJob(state);
  const metadata = inputMetadata(state);
  return {
    id,
    status: statusOf(state),
    created_at,
    completed_at,
    source: shownSourceUrl(state.spec.input),
    ...waitingMembers(state),
    ...(metadata ? { metadata } : {}),
    ...failureMembers(state.input.failure),
  };
}

function statusOf(state: JobState): ProbeView["status"] {
  if (state.status === "job.completed") return "completed";
  if (isTerminalJob(state.status)) return "failed";
  return isQueued(state) ? "queued" : "running";
}
