// Responses of routes that need more of a job than its row, after the job's state was purged. For tests.

/** For each route: method, path after `/v2`, status, error code, and a pattern for the message. */
export const purgedJobResponses = (id: string): readonly [string, string, number, string, RegExp][] => [
  ["DELETE", `/jobs/${id}`, 409, "job_state_conflict", /ended/],
  ["POST", `/jobs/${id}/retry`, 409, "job_state_conflict", /was deleted; create a new job/],
  ["GET", `/jobs/${id}/notifications`, 404, "notification_not_found", /deleted/],
  ["POST", `/jobs/${id}/notifications/msg_${id}_1/replay`, 404, "notification_not_found", /deleted/],
  ["GET", `/jobs/${id}/tasks`, 409, "job_state_conflict", /tasks.* deleted/],
  ["GET", `/jobs/${id}/commands`, 409, "job_state_conflict", /commands .* deleted/],
  ["GET", `/jobs/${id}/running`, 409, "job_state_conflict", /commands .* deleted/],
  ["GET", `/jobs/${id}/request`, 409, "job_state_conflict", /request .* deleted/],
];

/** The same for routes of metadata. Some jobs keep their metadata longer than their state. */
export const deletedMetadataResponses = (id: string): ReturnType<typeof purgedJobResponses> => [
  ["GET", `/metadata/jobs/${id}`, 404, "metadata_not_found", /deleted/],
  ["GET", `/metadata/jobs/${id}/input`, 404, "metadata_not_found", /deleted/],
];
