// The responses of routes that need more of a job than its row, after its state was purged; for tests.

/** Method, path after `/v2`, status, error code, and a pattern for the message. */
export const forgottenAnswers = (id: string): readonly [string, string, number, string, RegExp][] => [
  ["DELETE", `/jobs/${id}`, 409, "job_state_conflict", /ended/],
  ["POST", `/jobs/${id}/retry`, 409, "job_state_conflict", /no longer kept; create it anew/],
  ["GET", `/jobs/${id}/notifications`, 404, "notification_not_found", /no longer kept/],
  ["POST", `/jobs/${id}/notifications/msg_${id}_1/replay`, 404, "notification_not_found", /no longer kept/],
  ["GET", `/metadata/jobs/${id}`, 404, "metadata_not_found", /no longer kept/],
  ["GET", `/metadata/jobs/${id}/input`, 404, "metadata_not_found", /no longer kept/],
];
