// What the routes answer that need more of a job than its row, once nothing else is kept; for tests.

/** Method, path after `/v2`, status, error code, and what the message says. */
export const forgottenAnswers = (id: string): readonly [string, string, number, string, RegExp][] => [
  ["DELETE", `/jobs/${id}`, 409, "job_state_conflict", /ended/],
  ["POST", `/jobs/${id}/retry`, 409, "job_state_conflict", /no longer kept; create it anew/],
  ["GET", `/jobs/${id}/notifications`, 404, "notification_not_found", /no longer kept/],
  ["POST", `/jobs/${id}/notifications/msg_${id}_1/replay`, 404, "notification_not_found", /no longer kept/],
  ["GET", `/metadata/jobs/${id}`, 404, "metadata_not_found", /no longer kept/],
  ["GET", `/metadata/jobs/${id}/input`, 404, "metadata_not_found", /no longer kept/],
];
