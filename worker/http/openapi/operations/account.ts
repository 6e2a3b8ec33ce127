// /v2/usage, /v2/fonts and /v2/events: the usage of an account, fonts, and the events of its jobs.
import * as z from "zod";
import type { JobEvent } from "#shared/api/account-responses.ts";
import { UsageParameters } from "../../query/usage-query.ts";
import { JOB_ID } from "../examples/responses.ts";
import { type Operation, type Parameter, queryParameters, success } from "../operation.ts";

const account = { tag: "Account", access: "client" } as const;

const LAST_EVENT_ID: Parameter = {
  in: "header",
  name: "Last-Event-ID",
  description: "The id of the last event that was received: the stream continues after it",
  schema: z.string(),
  required: false,
  example: "1795238607123",
};

const EVENT: JobEvent = {
  id: JOB_ID,
  status: "job.completed",
  progress: "100%",
  created_at: "2026-11-21T05:23:27.123Z",
  completed_at: "2026-11-21T05:23:33.456Z",
  outputs: { completed: 3, failed: 0, total: 3 },
};

export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  {
    ...account,
    method: "get",
    path: "/v2/usage",
    id: "getUsage",
    summary: "Read usage by day",
    description:
      "Usage of the account's jobs, by the day of their end. Jobs that just ended are included. " +
      "Numbers stay when jobs are no longer listed.",
    parameters: queryParameters(UsageParameters),
    responses: [success(200, "All days, and their sum", "Usage")],
    codes: ["query_not_valid"],
  },
  {
    ...account,
    method: "get",
    path: "/v2/fonts",
    id: "listFonts",
    summary: "List fonts",
    description: "Fonts for burnt-in captions that a node has. A job that names a font waits for such a node.",
    responses: [success(200, "The names", "FontList")],
    codes: [],
  },
  {
    ...account,
    method: "get",
    path: "/v2/events",
    id: "followAccount",
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
    codes: [],
  },
];
