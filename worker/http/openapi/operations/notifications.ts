// /v2/jobs/:id/notifications: the log, and replay.
import { RESPONSE_EXAMPLES } from "../examples/responses.ts";
import { type Operation, pathParameter } from "../operation.ts";
import { ID } from "./jobs.ts";

const notification = { tag: "Notifications", access: "client" } as const;

export const NOTIFICATION_OPERATIONS: readonly Operation[] = [
  {
    ...notification,
    method: "get",
    path: "/v2/jobs/:id/notifications",
    id: "listNotifications",
    summary: "Read the log of notifications",
    parameters: [ID],
    responses: [
      {
        status: 200,
        description: "The log",
        content: { json: "NotificationLog", example: RESPONSE_EXAMPLES.NotificationLog },
      },
    ],
    codes: ["job_not_found", "notification_not_found"],
  },
  {
    ...notification,
    method: "post",
    path: "/v2/jobs/:id/notifications/:nid/replay",
    id: "replayNotification",
    summary: "Send a notification again",
    description:
      "Sends the same bytes with the same id. Restarts the schedule of attempts; the log continues to count them. " +
      "At most once per minute for each notification.",
    parameters: [ID, pathParameter("nid", "The id of the notification", RESPONSE_EXAMPLES.Delivery.id)],
    responses: [
      {
        status: 200,
        description: "The notification, which is due",
        content: { json: "Delivery", example: RESPONSE_EXAMPLES.Delivery },
      },
    ],
    codes: ["job_not_found", "notification_not_found"],
  },
];
