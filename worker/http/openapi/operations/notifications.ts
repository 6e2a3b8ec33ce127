// /v2/jobs/:id/notifications: the log, and replay.
import { ANSWER_EXAMPLES } from "../examples/answers.ts";
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
    answers: [
      {
        status: 200,
        description: "The log",
        content: { json: "NotificationLog", example: ANSWER_EXAMPLES.NotificationLog },
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
      "The same bytes under the same id. The schedule of attempts begins anew, and the log counts on. " +
      "Once a minute for each notification.",
    parameters: [ID, pathParameter("nid", "The notification's id", ANSWER_EXAMPLES.Delivery.id)],
    answers: [
      {
        status: 200,
        description: "The notification, due",
        content: { json: "Delivery", example: ANSWER_EXAMPLES.Delivery },
      },
    ],
    codes: ["job_not_found", "notification_not_found"],
  },
];
