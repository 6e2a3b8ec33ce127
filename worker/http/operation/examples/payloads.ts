// Examples of notifications, created by the same code as real notifications.
import type { JobView } from "#shared/job/job-view.ts";
import { inputPayload, jobPayload, type NotificationEvent, outputPayload } from "#shared/job/notification.ts";
import type { NotificationPayload } from "#shared/job/notification-payload.ts";
import { ABORTED_JOB, COMPLETED_JOB, METADATA, RUNNING_JOB, STARTING_JOB } from "./responses.ts";

const INPUT_ERROR = { error: "The server of the input responded with HTTP 404", error_code: "input_http_404" };
const OUTPUT_ERROR = {
  error:
    "The storage rejected the upload (HTTP 403, AccessDenied): the credentials have no permission to write there; check their permissions.",
  error_code: "storage_denied",
};
const OUTPUT = { key: "mp4:240p", type: "video", format: "mp4:240p" } as const;
const FAILED = { ...OUTPUT, ...OUTPUT_ERROR, status: "video.failed" } as const;

const INPUT_FAILED: JobView = { ...STARTING_JOB, input: { status: "input.failed", ...INPUT_ERROR } };
const FAILED_JOB: JobView = {
  ...COMPLETED_JOB,
  status: "job.failed",
  outputs: [FAILED, ...COMPLETED_JOB.outputs.slice(1)],
};

const URL_240P = COMPLETED_JOB.outputs[0]?.url ?? "";

export const PAYLOAD_EXAMPLES: Readonly<Record<NotificationEvent, NotificationPayload>> = {
  "input.transferred": inputPayload("input.transferred", RUNNING_JOB, { input: METADATA, outputs: [] }),
  "input.failed": inputPayload("input.failed", INPUT_FAILED, null),
  "output.completed": outputPayload(
    "output.completed",
    RUNNING_JOB,
    { ...OUTPUT, url: URL_240P, status: "video.encoded" },
    METADATA,
    "50%",
  ),
  "output.failed": outputPayload("output.failed", RUNNING_JOB, FAILED, null, "50%"),
  "job.completed": jobPayload("job.completed", COMPLETED_JOB, null),
  "job.failed": jobPayload("job.failed", FAILED_JOB, null),
  "job.aborted": jobPayload("job.aborted", ABORTED_JOB, null),
};
