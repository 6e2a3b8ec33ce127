// /v2/usage, /v2/fonts and /v2/events: the usage of an account, fonts, and the events of its jobs.

import type { JobEvent } from "#shared/api/account-responses.ts";
import { FontList, Usage } from "#shared/api/account-responses.ts";
import { AuditList } from "#shared/api/audit.ts";
import { JOB_ID } from "../operation/examples/responses.ts";
import { headerParameter, operations, queryParameters, success } from "../operation/operation.ts";
import { AuditParameters } from "../query/upload-query.ts";
import { UsageParameters } from "../query/usage-query.ts";

const LAST_EVENT_ID = headerParameter(
  "Last-Event-ID",
  "The id of the last event that was received: the stream continues after it",
  "1795238607123",
);

const EVENT: JobEvent = {
  id: JOB_ID,
  status: "job.completed",
  progress: "100%",
  created_at: "2026-11-21T05:23:27.123Z",
  completed_at: "2026-11-21T05:23:33.456Z",
  outputs: { completed: 3, failed: 0, total: 3 },
};

export const ACCOUNT_OPERATIONS = operations({ tag: "Account" })({
  getUsage: {
    route: "GET /v2/usage",
    access: ["usage:read"],
    summary: "Read usage by day",
    description:
      "Usage of the account's jobs, by the day of their end. Jobs that just ended are included. " +
      "Numbers stay when jobs are no longer listed.",
    parameters: queryParameters(UsageParameters),
    responses: [success(200, "All days, and their sum", Usage)],
  },
  listAudit: {
    route: "GET /v2/audit",
    access: "unscoped-key",
    summary: "List changes",
    description:
      "Who changed what, when and from where. Created jobs are listed with `action=createJob` (with `actor`, of the next " +
      "2,000 jobs), and with `object=jobs/ID`.",
    parameters: queryParameters(AuditParameters),
    responses: [success(200, "A page of the audit", AuditList)],
  },
  listFonts: {
    route: "GET /v2/fonts",
    access: ["jobs:create"],
    summary: "List fonts",
    description: "Fonts for burnt-in captions that a node has. A job that names a font waits for such a node.",
    responses: [success(200, "The names", FontList)],
  },
  followAccount: {
    route: "GET /v2/events",
    access: ["jobs:read"],
    summary: "Follow all jobs",
    description:
      "Server-sent events of all jobs of the account: `job` (JobEvent) when a job is created, has another status or ends, " +
      "`notification` (NotificationEvent) with the body of each notification, as it is sent, `upload` (UploadPayload) " +
      "with each upload link that is completed or expires, and `gap` (GapEvent) when " +
      "events after `Last-Event-ID` are no longer kept: the newest 1,000 are, as long as notifications. " +
      "A comment every 15 seconds keeps idle connections open.",
    parameters: [LAST_EVENT_ID],
    responses: [
      {
        status: 200,
        description: "The stream",
        content: {
          mediaType: "text/event-stream",
          example: `retry: 2000\nid: 1795238607000\n\nevent: job\nid: 1795238607123\ndata: ${JSON.stringify(EVENT)}\n\n`,
        },
      },
    ],
  },
});
